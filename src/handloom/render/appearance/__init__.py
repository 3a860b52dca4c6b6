"""Appearance of surfaces and surroundings: prints, swept tubes, ambient light."""
