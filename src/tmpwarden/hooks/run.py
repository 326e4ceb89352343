"""The script that an agent starts: `python3 -I -S .../run.py DIALECT EVENT`. Compiled on every call, so it is small."""

try:
    import sys

    here = __file__.rsplit("/", 2)[0]
    sys.modules["tmpwarden"] = bare = type(sys)("tmpwarden")  # the real one may lie in a pack
    bare.__path__ = [here]
    from tmpwarden.headstart import prepare

    prepare(here)
    from tmpwarden.hooks.entry import main

    main(sys.argv[1:])
except BaseException:  # a runtime that is half there must not stop an agent: status 2 would deny its tool call
    sys.exit(1)
