"""Benchmarks: ratios in one run, peers measured beside us where they are installed."""
