"""Model data read once (shapes, materials, meshes, textures, lights), and their placement in each frame."""
