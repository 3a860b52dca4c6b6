"""Isaac Sim's control and motion generation by their published names: a shell over motion and scene."""
