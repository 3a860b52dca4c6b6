"""Trajectories under their published names: splines, task-space paths, their conversion and timing."""
