"""Files that are whole or absent, files of strangers, Parquet with every choice pinned."""
