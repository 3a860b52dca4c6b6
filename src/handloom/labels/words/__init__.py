"""Language for an episode: scene, relations, unique references, questions with answers, wordings."""
