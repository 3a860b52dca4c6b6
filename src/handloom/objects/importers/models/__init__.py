"""Objects from MJCF and URDF files."""
