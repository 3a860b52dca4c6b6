"""What is read from the model once: shapes, materials, meshes, textures, lights, and where each frame places them."""
