"""How far settings may go: for the engine that refuses others, and for whoever checks a trace.

Knows numbers only; loads no torch.
"""

from __future__ import annotations

MOST_DRAFTED = 32  # k: beyond it a pass on a CPU costs several of one token
HOTTEST = 1e6  # a temperature at which every law is flat
LARGEST_SHIFT = 1e4  # of a bias or a penalty: far beyond any logit, and far from overflow
