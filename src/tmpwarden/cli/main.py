"""The `tmpwarden` command: parse, dispatch, turn errors into exit statuses."""


def run() -> None:
    raise SystemExit("not built yet")
