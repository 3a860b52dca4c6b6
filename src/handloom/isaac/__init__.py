"""Isaac Sim's control and motion generation APIs, under their published names, on top of motion and scene."""
