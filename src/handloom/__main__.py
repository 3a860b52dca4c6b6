"""Entry point of ``python -m handloom``, equivalent to the command ``handloom``."""

from handloom.cli import main

raise SystemExit(main())
