"""Many planning problems at once, on all CPU cores or on a CUDA GPU."""
