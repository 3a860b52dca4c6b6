"""Code shared by all skills: the arm controller, joint paths, candidate poses, two arms side by side."""
