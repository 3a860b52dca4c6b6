"""Benchmarks of inverse kinematics, collision checks, planning and timing."""
