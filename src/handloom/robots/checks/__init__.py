"""What `handloom robot check` looks at."""
