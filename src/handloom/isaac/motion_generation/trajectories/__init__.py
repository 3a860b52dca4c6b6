"""Trajectories with the published names: splines, paths in task space, their conversion and timing."""
