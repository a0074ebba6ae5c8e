"""Panels: widgets and input only. They know viewmodels, never the worker or torch."""
