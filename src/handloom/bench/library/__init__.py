"""Benchmarks of the deeds of the library, robot by robot."""
