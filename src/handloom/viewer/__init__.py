"""The browser pages for datasets, episodes, tasks and runs (extra ``view``)."""
