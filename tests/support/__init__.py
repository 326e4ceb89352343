"""What several test modules need: an ordinary user, real mounts, old files, processes that wait."""
