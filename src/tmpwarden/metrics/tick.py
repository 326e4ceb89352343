"""What a timer with `--metrics DIR` starts: one unattended clean, and then the series of this host into DIR."""

import sys

if __package__ in (None, ""):
    sys.path.insert(0, __file__.rsplit("/", 3)[0])


def main(arguments: list[str]) -> int:
    """0, or 1 if it failed for somebody or the file could not be written."""
    from tmpwarden.lifecycle import tick

    directory = arguments[arguments.index("--metrics") + 1]
    return tick.main(arguments) | _write(directory, "--all-users" in arguments)


def _write(directory: str, is_of_all: bool) -> int:
    from tmpwarden.errors import TmpwardenError
    from tmpwarden.lifecycle import textfile
    from tmpwarden.metrics import families, series
    from tmpwarden.model.request import Request

    look = series.of_all_users if is_of_all else series.of_this_user
    try:
        textfile.check(directory)
        textfile.write(directory, families.text(look(Request())))
    except (TmpwardenError, OSError) as problem:
        print(f"tmpwarden: metrics: {problem}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
