"""One finished episode on disk: frames, videos, archive and certificate."""
