"""Tasks in rooms: the room of an episode, its clutter, and its light."""
