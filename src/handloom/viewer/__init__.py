"""Look at datasets, episodes, tasks and runs in a browser (extra ``view``)."""
