"""Serve a built book as GitHub Pages does: under a sub-path, gzipped, with the book's page for a wrong address."""

import gzip
import mimetypes
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

PREFIX = "/attention/"
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".woff2": "font/woff2", ".ipynb": "application/json"}
PACKED = {".html", ".css", ".js", ".mjs", ".svg", ".json", ".xml", ".txt", ".ipynb"}


@contextmanager
def serving(folder, prefix=PREFIX, delay=None):
    """Serve `folder` on a free port of this machine; give its address.

    `delay(path)` may wait before a file is sent, as a slow network does.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path = unquote(urlsplit(self.path).path)
            if delay:
                delay(path)
            file = folder / path.removeprefix(prefix) if path.startswith(prefix) else folder / "none"
            if file.is_dir():
                file /= "index.html"
            status = 200 if file.is_file() else 404
            if status == 404:
                file = folder / "404.html"
            body = file.read_bytes()
            self.send_response(status)
            kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
            if file.suffix in PACKED and "gzip" in self.headers.get("Accept-Encoding", ""):
                body = gzip.compress(body, 6, mtime=0)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "max-age=600")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    import sys
    import time

    with serving(Path(sys.argv[1])) as address:
        print(address, flush=True)
        time.sleep(10**6)
