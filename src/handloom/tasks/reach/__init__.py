"""Where the arms of a robot get to, and which of them does what."""
