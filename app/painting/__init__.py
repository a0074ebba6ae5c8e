"""From a viewmodel to a QPainter: the same pictures for the window and for exports."""
