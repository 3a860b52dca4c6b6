"""Recording of a session: takes, episodes, the run."""
