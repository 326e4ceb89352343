"""Stories of users, told from the outside: the installed command, real programs, real disks. See docs/journeys.md."""
