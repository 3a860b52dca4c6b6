"""Handloom weaves robot demonstrations: one YAML task becomes a verified LeRobot dataset."""

from handloom import graphics, version

__version__ = version.VERSION
# Before anything imports MuJoCo.
graphics.drop_unusable_mujoco_gl()
