"""LeRobot v3 datasets: tables, statistics, merging, reading, checking."""
