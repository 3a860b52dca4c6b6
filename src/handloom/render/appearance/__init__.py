"""What surfaces and surroundings are made of: prints, swept tubes, light from all around."""
