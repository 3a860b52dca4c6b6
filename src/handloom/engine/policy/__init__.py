"""Trained policies: loading them, running them, measuring their success."""
