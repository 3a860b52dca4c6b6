"""Laps of a course in physics: drivers, courses, measurements, images."""
