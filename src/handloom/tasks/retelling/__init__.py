"""Retelling a demonstration with another robot: its scene at the other workplace, its deeds for any robot."""
