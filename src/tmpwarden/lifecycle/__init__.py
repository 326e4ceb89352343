"""The moments at which temp is cleared, and private temp for any command."""
