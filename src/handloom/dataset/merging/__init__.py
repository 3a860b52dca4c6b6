"""How planned episodes become files: tables, packs of archives, totals; and how datasets become one, file by file."""
