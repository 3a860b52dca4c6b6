"""Controllers of wheeled robots, which turn a command for the base into wheel targets."""
