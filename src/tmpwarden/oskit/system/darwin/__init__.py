"""macOS: everything is asked of libproc, sysctl and a few calls of libc, through ctypes. docs/macos.md tells what of
that has been seen on a Mac. What is missing here (paths of descriptors, a /tmp of one's own) is `blind`'s."""
