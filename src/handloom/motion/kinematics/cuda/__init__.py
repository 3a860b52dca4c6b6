"""Inverse kinematics on NVIDIA cards: the descent of the processor's kernels, one thread per starting point."""
