"""Lines that carry the laws, and a run that breaks each of them in a copy of the tree to see its tests turn red."""
