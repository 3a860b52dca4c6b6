"""Retelling a demonstration with another robot: its scene at the other work place, its deeds for any robot."""
