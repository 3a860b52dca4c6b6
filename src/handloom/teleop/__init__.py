"""Teleoperation: a person drives the loop of ``generate`` from a browser (extra ``teleop``)."""
