"""Files and directories: where they lie, how big and old they are, and every way in which we remove one."""
