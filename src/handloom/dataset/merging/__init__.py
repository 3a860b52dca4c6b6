"""Turns planned episodes into files (tables, packs of archives, totals), and merges datasets file by file."""
