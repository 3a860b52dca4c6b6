"""The page that shows datasets, episodes, tasks and runs."""
