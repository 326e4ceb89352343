"""What the guard talks about: words with their values, paths and their uses, commands, what a shell knows."""
