"""Benchmarks of the robot-independent tasks, robot by robot, and of packs."""
