"""The trace of a run: events, their lines in a file, the journal, and the figures over them.

Knows no torch and no Qt: a trace alone redraws every picture and makes every export.
"""
