"""One module per verb, or per family of verbs, of the command line."""
