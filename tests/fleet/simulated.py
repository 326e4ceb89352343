"""Many hosts behind one port: `python simulated.py PORT DIR` serves DIR/N.prom at /N, its numbers a little older."""

import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_BYTES = re.compile(r"^(tmpwarden_\w+_(?:bytes|bytes_total|seconds)\{.*\}) (\d+)", re.MULTILINE)


class Textfile(BaseHTTPRequestHandler):
    directory = Path()
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hour = int(time.time()) // 10  # the file of a host is new every hour; an hour takes ten seconds here
        text = (self.directory / f"{self.path.strip('/')}.prom").read_text()
        body = _BYTES.sub(lambda match: f"{match[1]} {int(match[2]) + hour % 97 * 4096}", text).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    Textfile.directory = Path(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Textfile).serve_forever()
