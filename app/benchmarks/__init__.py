"""What the window costs and how smooth it stays, measured. The engine's own are its package's."""
