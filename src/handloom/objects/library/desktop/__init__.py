"""Objects of desks and small tables that the tasks of the field's suites handle."""
