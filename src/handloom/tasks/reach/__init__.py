"""Reach of the arms of a robot, and the choice of arm for each skill."""
