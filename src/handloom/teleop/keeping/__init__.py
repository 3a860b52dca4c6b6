"""What is kept of a session: takes, episodes, the run."""
