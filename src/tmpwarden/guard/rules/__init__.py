"""What the user wants: the config's rules, decoded, compiled, verified."""
