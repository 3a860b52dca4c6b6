"""Haptic feedback: types of tactile values, vibrating devices, and the sink through which a graph drives them."""
