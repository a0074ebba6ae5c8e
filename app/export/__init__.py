"""What is made from a trace alone: one format a file. No torch, no worker, no views."""
