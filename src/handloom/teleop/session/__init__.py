"""What a person says to a running episode: devices, state, the source of its commands."""
