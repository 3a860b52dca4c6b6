"""Executors of work: this process, worker processes, a Ray cluster."""
