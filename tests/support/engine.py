"""A container engine that answers, at its socket, the two questions of Docker's API that tmpwarden asks."""

import contextlib
import json
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any


def container(id_: str, *sources: Path | str, status: str = "running", name: str = "run") -> dict[str, Any]:
    """What `GET /containers/ID/json` says, as far as anybody reads it."""
    return {
        "Id": id_,
        "Name": f"/{name}",
        "State": {"Status": status, "Pid": 0},
        "Mounts": [{"Type": "bind", "Source": str(source), "Destination": "/moat"} for source in sources],
        "HostConfig": {"Binds": None},
    }


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@contextlib.contextmanager
def engine(path: Path, containers: list[dict[str, Any]], *, spoils: str = "") -> Iterator[None]:
    """`spoils`: "refuses" every question, "denies" one of its containers, or "babbles"."""
    known = {each["Id"]: each for each in containers}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            question = self.path.split("?")[0]
            answer: object = [{"Id": id_} for id_ in known] if question == "/containers/json" else None
            if question.endswith("/json") and question.split("/")[2] in known and spoils != "denies":
                answer = known[question.split("/")[2]]
            text = b"[{" if spoils == "babbles" else json.dumps(answer).encode()
            self.send_response(500 if spoils == "refuses" else 200 if answer is not None else 404)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

        def address_string(self) -> str:
            return "unix"

    path.parent.mkdir(parents=True, exist_ok=True)
    with _Server(str(path), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
            path.unlink()


@contextlib.contextmanager
def watcher(directory: Path, id_: str = "", program: str = "containerd-shim-runc-v2") -> Iterator[None]:
    """A process that watches over a container, as everybody sees it: by its name and its arguments."""
    copy = directory / program
    if not copy.exists():
        shutil.copy("/bin/sh", copy)
    with subprocess.Popen(
        [copy, "-c", "echo ready; read _", "-id", id_], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    ) as running:
        try:
            assert running.stdout is not None and running.stdout.readline() == b"ready\n"
            yield
        finally:
            running.kill()
