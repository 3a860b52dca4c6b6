"""What skills have in common: the arm controller, joint paths, candidate poses, two arms side by side."""
