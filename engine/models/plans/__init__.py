"""Plans: how a model's layers are computed on a machine. Names are loaded from their own files."""
