"""Layouts: poses drawn from regions until nothing overlaps and everything rests."""
