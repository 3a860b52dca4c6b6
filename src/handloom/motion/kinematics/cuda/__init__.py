"""Inverse kinematics on NVIDIA GPUs: the same descent as on the CPU, one thread per starting point."""
