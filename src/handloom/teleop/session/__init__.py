"""Operator input of a running episode: devices, state, the source of its commands."""
