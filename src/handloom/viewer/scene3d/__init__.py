"""Scenes and recorded states as geometry for the browser's 3D view."""
