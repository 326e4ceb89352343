"""The script that an agent starts: `python3 -I -S .../run.py DIALECT EVENT`. Compiled on every call, so it is small."""

try:
    import sys

    sys.path.insert(0, __file__.rsplit("/", 3)[0])
    from tmpwarden.hooks.entry import main

    main(sys.argv[1:])
except BaseException:  # a runtime that is half there must not stop an agent: status 2 would deny its tool call
    sys.exit(0)
