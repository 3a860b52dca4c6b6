"""The ray caster on NVIDIA GPUs, with the tables and arithmetic of the CPU version, thousands of images at a time."""
