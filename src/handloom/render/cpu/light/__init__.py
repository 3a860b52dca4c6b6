"""Light on surface points: shading, soft shadows, ambient occlusion."""
