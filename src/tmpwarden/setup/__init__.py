"""Writes us into an agent's settings, and takes us out again."""
