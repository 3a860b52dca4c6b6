"""One scene from a task: every random choice of an episode is made in this folder and nowhere else."""
