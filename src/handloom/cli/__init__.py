"""The command line: ``handloom <verb>``. The only folder that prints."""

from handloom.cli.main import main

__all__ = ["main"]
