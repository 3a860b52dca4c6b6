"""Inverse kinematics on NVIDIA GPUs: the descent of the processor's kernels, one thread per starting point."""
