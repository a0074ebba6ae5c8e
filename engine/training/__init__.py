"""Making drafters for a target: its own text, its states, and small models fitted to its laws."""
