"""The ray caster on NVIDIA GPUs: the tables and the arithmetic of the processor's, thousands of images at a time."""
