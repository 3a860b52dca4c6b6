"""Atomic files, untrusted files, and Parquet with every option pinned."""
