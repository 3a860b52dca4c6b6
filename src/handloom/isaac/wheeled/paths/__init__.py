"""Paths over the floor, and their tracking."""
