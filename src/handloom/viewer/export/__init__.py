"""Files that ``handloom view`` writes instead of serving: a static site, a dataset card, a rerun recording."""
