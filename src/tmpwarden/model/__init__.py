"""The nouns. hot.py for what starts before every tool call, sweep.py for everything else."""
