"""The verbs that make runs: of the scripted expert, from demonstrations, or of a policy."""
