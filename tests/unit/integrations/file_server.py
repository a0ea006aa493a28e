"""A web server on loopback that serves files, and misbehaves as told."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class FileServer:
    """Instructions for the next requests, and a record of the requests."""

    files: Mapping[str, bytes]  # path -> bytes
    port: int = 0
    ranges: bool = True
    etag: str = '"one"'
    # bytes after which it closes the connection, per request
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)  # sent instead of the file
    redirects: dict[str, str] = field(default_factory=dict)  # path -> Location
    odd_range: bool = False  # answers each range with a different one
    length: bool = True  # whether it sends Content-Length
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # target, Range, If-Range

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range", "")
        condition = request.headers.get("If-Range", "")
        self.asked.append((request.path, wanted, condition))
        if self.statuses:
            return _plain(request, self.statuses.pop(0))
        if location := self.redirects.get(request.path):
            return _plain(request, 302, {"Location": location})
        body = self.files[request.path]
        start = 0
        if self.ranges and wanted and condition in ("", self.etag):
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                return _plain(request, 416)
        request.send_response(206 if start else 200)
        if start:
            told = start - 1 if self.odd_range else start
            request.send_header("Content-Range", f"bytes {told}-{len(body) - 1}/{len(body)}")
        if self.length:
            request.send_header("Content-Length", str(len(body) - start))
        if self.etag:
            request.send_header("ETag", self.etag)
        request.end_headers()
        cut = self.cuts.pop(0) if self.cuts else len(body)
        request.wfile.write(body[start : start + cut])
        return None


def _plain(
    request: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str] | None = None
) -> None:
    request.send_response(status)
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.send_header("Content-Length", "0")
    request.end_headers()


@contextmanager
def file_server(files: Mapping[str, bytes]) -> Iterator[FileServer]:
    """Serve until the context ends."""
    served = FileServer(files)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name required by http.server
            served.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
