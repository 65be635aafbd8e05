"""Fetching, against a server of this test's own: redirects, missing files, wrong digests, cut connections."""

import contextlib
import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from rankplug_data.catalogue import Download
from rankplug_data.download import fetch

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
            "/wrong": lambda: self.send(b"something else" * 100),
            "/cut": self.cut,
            "/cut-without-ranges": lambda: self.cut(ranges=False),
            "/always-cut": lambda: self.cut(always=True),
            "/busy": lambda: self.send_error(503) if self.asked() < 3 else self.whole(),
            "/slow": self.slow,
            "/promises-less": lambda: self.send(CONTENT, promised=1000),
            "/goes-on-elsewhere": self.elsewhere,
            "/mirror/SET/set.zip": self.whole,
        }.get(self.path)
        if answer is None:
            self.send_error(404)
        else:
            answer()

    def send(self, body, promised=None, status=200, begin=0):
        self.send_response(status)
        self.send_header("Content-Type", "application/zip")
        if status == 206:
            self.send_header("Content-Range", f"bytes {begin}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)

    def asked(self):
        return sum(path == self.path for path, _ in self.server.requests)

    def slow(self):
        """Send a few bytes now and then, for ever."""
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"x" * 10)
                self.wfile.flush()
                time.sleep(0.05)

    def elsewhere(self):
        """Drop the first connection, and go on at the wrong byte."""
        if "Range" not in self.headers:
            self.send(CONTENT[:300_000], promised=len(CONTENT))
            self.close_connection = True
            return
        self.send(CONTENT[7:], status=206, begin=7)

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
            self.send(CONTENT[begin:], status=206 if begin else 200, begin=begin)

    def cut(self, ranges=True, always=False):
        """Drop the connection after 300,000 bytes, the first time or every time."""
        begin = self.begin() if ranges else 0
        rest = CONTENT[begin:]
        first = self.asked() == 1
        body = rest[:300_000] if first else b"" if always else rest
        self.send(body, promised=len(rest), status=206 if begin else 200, begin=begin)
        self.close_connection = True


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.requests = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def get(server, folder, *paths, digest=DIGEST, attempts=3, patience=30):
    download = Download(file="SET/set.zip", urls=tuple(server.url + path for path in paths), sha256=digest)
    return fetch(download, folder, attempts=attempts, wait=0.0, patience=patience)


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def begin_of(wanted):
    return int(wanted.removeprefix("bytes=").partition("-")[0])


def test_a_file_is_fetched_once(server, tmp_path):
    path = get(server, tmp_path, "/file")
    assert path == tmp_path / "SET" / "set.zip"
    assert path.read_bytes() == CONTENT
    get(server, tmp_path, "/file")
    assert server.requests == [("/file", None)]
    assert files(tmp_path) == ["set.zip"]


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


@pytest.mark.parametrize("size", [1000, len(CONTENT) + 5])
def test_remains_of_another_file_are_thrown_away(server, tmp_path, size):
    (tmp_path / "SET").mkdir()
    (tmp_path / "SET" / "set.zip.part").write_bytes(b"old" * (size // 3))
    assert get(server, tmp_path, "/file").read_bytes() == CONTENT
    assert files(tmp_path) == ["set.zip"]


WRONG = {
    "/nothing": "the server answered 404 Not Found",
    "/slow": "sends less than 1,000 bytes a second",
    "/wrong": "what came has another SHA-256 than",
    "/promises-less": "what came has another SHA-256 than",
    "/always-cut": "IncompleteRead|ended after",
    "/goes-on-elsewhere": r"goes on at byte 7 and not at \d+",
}


@pytest.mark.parametrize("path", WRONG)
def test_a_server_that_misbehaves_is_named_and_the_next_tried(server, tmp_path, path):
    with pytest.raises(DataError, match=rf"set.zip could not be fetched: .*{path}.*({WRONG[path]})"):
        get(server, tmp_path / "alone", path, patience=0.3)
    assert "set.zip" not in files(tmp_path / "alone")
    assert get(server, tmp_path / "both", path, "/file", patience=0.3).read_bytes() == CONTENT
    assert files(tmp_path / "both") == ["set.zip"]


def test_a_busy_server_is_asked_again(server, tmp_path):
    assert get(server, tmp_path, "/busy").read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_mirrors_that_the_user_names_are_asked_last(server, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_MIRRORS", f"{server.url}/no-mirror/ {server.url}/mirror")
    assert get(server, tmp_path, "/nothing").read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == ["/nothing", "/no-mirror/SET/set.zip", "/mirror/SET/set.zip"]
