"""Where things lie: poses drawn from regions until nothing overlaps and everything rests."""
