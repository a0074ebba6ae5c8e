"""The window and the command line: everything that a person meets."""
