"""Objects from mesh files: OBJ, STL, PLY, GLB, DAE."""
