"""Objects from USD files."""
