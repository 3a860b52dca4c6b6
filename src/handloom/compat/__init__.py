"""Published names of other projects > our classes."""
