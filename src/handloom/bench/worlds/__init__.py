"""Benchmarks of what is sampled and built: scenes, kitchens, furnished rooms."""
