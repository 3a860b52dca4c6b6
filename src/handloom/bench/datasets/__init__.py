"""Benchmarks of datasets: what demonstrations are worth, how fast they are written, what labels cost."""
