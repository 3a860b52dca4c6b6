"""Many planning problems at once, on all cores or on a CUDA card."""
