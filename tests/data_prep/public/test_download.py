"""Fetching, against a server of this test's own: redirects, missing files, wrong digests, cut connections."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from rankplug_data.public.benchmark import Download
from rankplug_data.public.download import fetch

from rankplug.errors import DataError

CONTENT = bytes(range(256)) * 4096
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT at /file, and misbehaves elsewhere."""

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.requests.append((self.path, self.headers.get("Range")))
        answer = {
            "/file": self.whole,
            "/moved": self.redirect,
            "/wrong": lambda: self.send(b"something else" * 100),
            "/cut": self.cut,
            "/cut-without-ranges": lambda: self.cut(ranges=False),
            "/always-cut": lambda: self.cut(always=True),
        }.get(self.path)
        if answer is None:
            self.send_error(404)
        else:
            answer()

    def send(self, body, promised=None, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)

    def redirect(self):
        self.send_response(302)
        self.send_header("Location", "/file")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def begin(self):
        return begin_of(self.headers["Range"]) if "Range" in self.headers else 0

    def whole(self):
        begin = self.begin()
        if begin >= len(CONTENT):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send(CONTENT[begin:], status=206 if begin else 200)

    def cut(self, ranges=True, always=False):
        """Drop the connection after 300,000 bytes, the first time or every time."""
        begin = self.begin() if ranges else 0
        rest = CONTENT[begin:]
        first = sum(path == self.path for path, _ in self.server.requests) == 1
        short = always or first
        body = b"" if always and not first else rest[:300_000] if short else rest
        self.send(body, promised=len(rest), status=206 if begin else 200)
        self.close_connection = True


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.requests = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def get(server, folder, *paths, digest=DIGEST, attempts=3):
    download = Download(file="SET/set.zip", urls=tuple(server.url + path for path in paths), sha256=digest)
    return fetch(download, folder, attempts=attempts, wait=0.0)


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def begin_of(wanted):
    return int(wanted.removeprefix("bytes=").removesuffix("-"))


def test_a_file_is_fetched_once(server, tmp_path):
    path = get(server, tmp_path, "/file")
    assert path == tmp_path / "SET" / "set.zip"
    assert path.read_bytes() == CONTENT
    get(server, tmp_path, "/file")
    assert server.requests == [("/file", None)]
    assert files(tmp_path) == ["set.zip"]


def test_a_redirect_is_followed(server, tmp_path):
    assert get(server, tmp_path, "/moved").read_bytes() == CONTENT


def test_the_next_address_is_tried(server, tmp_path):
    assert get(server, tmp_path, "/nothing", "/wrong", "/file").read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == ["/nothing", "/wrong", "/file"]


def test_a_missing_file_names_address_and_answer(server, tmp_path):
    with pytest.raises(DataError, match=r"set.zip could not be fetched: http\S*/nothing: the server answered 404"):
        get(server, tmp_path, "/nothing")
    assert files(tmp_path) == []


def test_what_has_another_digest_is_never_put_in_place(server, tmp_path):
    with pytest.raises(DataError, match="another SHA-256 than " + DIGEST):
        get(server, tmp_path, "/wrong")
    assert files(tmp_path) == []


def test_a_cut_connection_goes_on_where_it_stopped(server, tmp_path):
    assert get(server, tmp_path, "/cut").read_bytes() == CONTENT
    (_, first), (_, second) = server.requests
    assert first is None
    assert 0 < begin_of(second) <= 300_000


def test_a_server_that_cannot_go_on_is_asked_from_the_beginning(server, tmp_path):
    assert get(server, tmp_path, "/cut-without-ranges").read_bytes() == CONTENT


def test_what_arrived_is_kept_for_the_next_run(server, tmp_path):
    with pytest.raises(DataError, match="/always-cut"):
        get(server, tmp_path, "/always-cut")
    assert files(tmp_path) == ["set.zip.part"]
    server.requests.clear()
    assert get(server, tmp_path, "/file").read_bytes() == CONTENT
    ((_, wanted),) = server.requests
    assert 0 < begin_of(wanted) <= 300_000
    assert files(tmp_path) == ["set.zip"]


def test_a_file_that_had_arrived_whole_is_taken(server, tmp_path):
    (tmp_path / "SET").mkdir()
    (tmp_path / "SET" / "set.zip.part").write_bytes(CONTENT)
    assert get(server, tmp_path, "/file").read_bytes() == CONTENT


@pytest.mark.parametrize("size", [1000, len(CONTENT) + 5])
def test_remains_of_another_file_are_thrown_away(server, tmp_path, size):
    (tmp_path / "SET").mkdir()
    (tmp_path / "SET" / "set.zip.part").write_bytes(b"old" * (size // 3))
    assert get(server, tmp_path, "/file").read_bytes() == CONTENT
    assert files(tmp_path) == ["set.zip"]


def test_no_server_at_all_is_an_error(tmp_path):
    download = Download(file="set.zip", urls=("http://127.0.0.1:9/set.zip",), sha256=DIGEST)
    with pytest.raises(DataError, match="could not be fetched"):
        fetch(download, tmp_path, attempts=1)
