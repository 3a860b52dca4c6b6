"""Planning on a CUDA GPU: the search for thousands of problems in one launch."""
