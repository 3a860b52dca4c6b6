"""Handloom weaves robot demonstrations: one YAML task becomes a verified LeRobot dataset."""

from handloom import version

__version__ = version.VERSION
