"""Sessions made of what other programs counted."""
