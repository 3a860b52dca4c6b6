"""The other verbs, a file each."""
