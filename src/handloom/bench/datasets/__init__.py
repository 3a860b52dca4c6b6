"""Benchmarks of datasets: quality of demonstrations, speed of writing, cost of labels."""
