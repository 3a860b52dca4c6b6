"""Benchmarks of sampled and built scenes, kitchens and furnished rooms."""
