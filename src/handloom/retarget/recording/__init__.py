"""Device input on disk: a file of frames, written as they come and replayed exactly."""
