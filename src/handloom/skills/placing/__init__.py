"""Skills that put a held object down, into a cavity or on a peg."""
