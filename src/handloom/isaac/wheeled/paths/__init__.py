"""Paths over the floor and how closely they are followed."""
