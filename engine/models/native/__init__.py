"""A pass as one C++ function, built for the processor it runs on. Knows no plan."""
