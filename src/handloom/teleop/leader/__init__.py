"""Leader arms over a serial line: bus protocols, calibration, and the thread that reads them."""
