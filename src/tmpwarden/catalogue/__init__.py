"""What agents leave behind: one TOML file per agent, its decoder, registry and matcher."""
