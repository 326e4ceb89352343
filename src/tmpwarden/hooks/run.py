"""The script that an agent starts: `python3 -I -S .../run.py DIALECT EVENT`. Compiled on every call, so it is small."""

try:
    import sys

    here, name = __file__.rsplit("/", 2)[0], "tmpwarden.bundle"
    sys.modules[name] = first = type(sys)(name)  # the package above it may lie in a bundle
    first.__file__ = here + "/bundle.py"  # by its own loader: finding it would cost more than reading it
    exec(type(__loader__)(name, first.__file__).get_code(name), first.__dict__)  # type: ignore[name-defined]
    first.prepare()
    from tmpwarden.hooks.entry import main

    main(sys.argv[1:])
except BaseException:  # a runtime that is half there must not stop an agent: status 2 would deny its tool call
    sys.exit(1)
