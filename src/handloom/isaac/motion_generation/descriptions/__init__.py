"""Robot descriptions for motion generation: URDF, description files, XRDF."""
