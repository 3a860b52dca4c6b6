"""The other verbs, one file each."""
