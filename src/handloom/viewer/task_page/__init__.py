"""The page of a task: sample scenes, edit the YAML, run the expert and watch it plan."""
