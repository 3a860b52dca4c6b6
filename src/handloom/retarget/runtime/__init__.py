"""What a session stands on: its config, where devices are read, plugins, and the worker of pipelined steps."""
