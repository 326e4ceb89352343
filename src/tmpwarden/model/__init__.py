"""The nouns. hot.py and belongings.py for what starts before every tool call, sweep.py for everything else."""
