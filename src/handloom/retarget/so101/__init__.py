"""Everything for the SO-101, a five-joint arm with one jaw."""
