"""Lets ``python -m handloom`` do what ``handloom`` does."""

from handloom.cli import main

raise SystemExit(main())
