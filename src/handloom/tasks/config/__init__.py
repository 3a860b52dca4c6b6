"""Task files: what they may say, where they are, and what is checked before anything is sampled."""
