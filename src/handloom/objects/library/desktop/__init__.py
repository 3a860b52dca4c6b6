"""Desk and table objects used by common benchmark suites."""
