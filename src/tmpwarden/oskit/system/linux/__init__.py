"""Linux: everything is read from /proc, or asked of a system call that only this kernel has."""
