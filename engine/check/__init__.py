"""Losslessness, checked: commands that anyone can run on their own pair of models."""
