"""words TEXT...: how often each word occurs. A complete program for click; words.py is the same for argparse."""

from tmpwarden import early as early  # isort: skip  # answers signals while the rest is imported

import sys
from typing import TextIO

import click

from tmpwarden.session import Session, answers, run_click


@click.command()
@click.argument("text", nargs=-1, required=True, type=click.File())
@answers("words")
def count(s: Session, text: tuple[TextIO, ...]) -> dict[str, object]:
    """How often each word occurs."""
    work = s.file("words")
    with open(work, "w") as file:
        for one in text:
            file.writelines(f"{word.lower()}\n" for word in one.read().split())
    report = s.hand_over("words.txt", keep="10m")
    s.run(["sh", "-c", 'sort "$1" | uniq -c | sort -rn > "$2"', "sh", work, report], check=True)
    with open(report) as file:
        return {"words": len(file.readlines())}


if __name__ == "__main__":
    sys.exit(run_click(count))
