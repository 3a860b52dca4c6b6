"""What can be said of an episode: scene, relations, unique references, questions with answers, wordings."""
