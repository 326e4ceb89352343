"""macOS: everything is asked of libproc, sysctl and a few calls of libc, through ctypes. docs/macos.md tells what of
that has been seen on a Mac."""
