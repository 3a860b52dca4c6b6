"""Skills with an object in the hand: carry, pour, turn, show."""
