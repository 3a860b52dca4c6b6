"""Groceries, cookware and holders of kitchens and desks, as named in household task suites."""
