"""Numbers of a node that may be turned while the graph runs, and their JSON file."""
