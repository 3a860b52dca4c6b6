"""Groceries, cookware and holders of kitchens and desks, as suites of household tasks name them."""
