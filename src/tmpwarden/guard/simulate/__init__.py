"""Runs the tree without running it: every command that could be reached, with what is known there."""
