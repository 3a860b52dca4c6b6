"""Controllers above the articulation layer: wheeled robots and execution graphs."""
