"""The page of teleoperation: server, messages, facts and images."""
