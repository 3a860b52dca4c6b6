"""The short form of skills, which expands to the published one."""
