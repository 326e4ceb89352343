"""words TEXT...: how often each word occurs. A complete program for argparse; words_click.py is the same for click."""

from tmpwarden import early as early  # isort: skip  # answers signals while the rest is imported

import argparse
import sys

from tmpwarden.session import Session, run_argparse


def count(s: Session, arguments: argparse.Namespace) -> dict[str, object]:
    work = s.file("words")  # 0600, in a 0700 directory that is gone when we end, however we end
    with open(work, "w") as file:
        for name in arguments.text:
            with open(name) as text:
                file.writelines(f"{word.lower()}\n" for word in text.read().split())
    report = s.hand_over("words.txt", keep="10m")  # for the caller: stays ten minutes, the answer says how to remove it
    # a child of ours: its TMPDIR leads here, and it is stopped before the directory goes
    s.run(["sh", "-c", 'sort "$1" | uniq -c | sort -rn > "$2"', "sh", work, report], check=True)
    with open(report) as file:
        return {"words": len(file.readlines())}


parser = argparse.ArgumentParser("words", description="How often each word occurs.")
parser.add_argument("text", nargs="+", help="a file to read")

if __name__ == "__main__":
    sys.exit(run_argparse(parser, count))
