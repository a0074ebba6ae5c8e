"""Model files, the transformer and what stands around them. Import the modules themselves."""
