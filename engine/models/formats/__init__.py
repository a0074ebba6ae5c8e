"""Model files: what lies in them, checked before it is believed."""
