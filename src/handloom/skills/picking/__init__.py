"""Skills that grasp: grasp candidates, approach, close, lift."""
