"""The subcommands of `tmpwarden guard`, one file each where they are more than a few lines."""
