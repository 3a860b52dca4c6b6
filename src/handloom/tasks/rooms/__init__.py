"""Tasks in rooms: the room of an episode, what stands around in it, and its light."""
