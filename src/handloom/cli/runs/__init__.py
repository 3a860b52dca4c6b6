"""The verbs that make runs, by the scripted expert, from demonstrations or of a policy."""
