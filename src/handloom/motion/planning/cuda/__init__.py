"""Planning on a CUDA card: the search for thousands of problems in one launch."""
