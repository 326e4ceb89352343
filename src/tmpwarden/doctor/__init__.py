"""Why does my agent fail: one sentence of cause, one command of remedy."""
