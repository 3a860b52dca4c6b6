"""Searches in joint space: RRT-Connect, JT-RRT, searches that keep a hold, shortcuts."""
