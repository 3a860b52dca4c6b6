"""The same demonstration with another robot: its scene at the other's work place, its deeds in words for any robot."""
