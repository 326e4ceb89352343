"""How agents spell their hooks. One module per protocol; what is true of one agent alone stands in its TOML file."""
