"""Robots as motion generation reads them: URDF, description files, XRDF."""
