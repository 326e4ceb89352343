"""server.py: a server process that keeps temp bounded by itself. It stops at the end of its input."""

import sys

import tmpwarden


def told(result: tmpwarden.CleanResult) -> None:
    """In the cleaner's own thread, after each clean."""
    print(f"removed {len(result.removed)}, freed {result.freed_bytes} bytes", file=sys.stderr, flush=True)


def main() -> None:
    with tmpwarden.Periodic(every="1h", on_result=told):  # once now, then every hour; never throws, never overlaps
        for line in sys.stdin:  # the server's own work
            print(line.upper(), end="", flush=True)


if __name__ == "__main__":
    main()
