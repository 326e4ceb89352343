"""Who claims which path: our own leases, and readers of the agents' own registries."""
