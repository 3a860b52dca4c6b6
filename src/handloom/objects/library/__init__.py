"""Drawings of the library, one file per family; each function draws one category."""
