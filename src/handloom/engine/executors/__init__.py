"""Who runs work: this process, worker processes, a Ray cluster."""
