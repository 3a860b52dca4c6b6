"""Controllers of wheeled robots: a command for the base becomes targets of its wheels."""
