"""Parts of a session: its config, device input, plugins, and the worker of pipelined steps."""
