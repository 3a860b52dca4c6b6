"""Searches in joint space: RRT-Connect, JT-RRT, searches under a hold, shortcuts."""
