"""The documentation's site as a visitor sees it, served as `make docs` builds it.

``RANKPLUG_SITE`` names a site that was built before, as ``mkdocs build --site-dir`` does; else one is built, which
takes a few minutes, since its tutorials are executed.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.xdist_group("site")]
ROOT = Path(__file__).parents[2]
SAMPLE = ("", "papers/xendcg/", "which-loss/", "losses/", "performance/")
"""The first page and one of each kind."""
LEVEL_AA = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
ABOUT_PAGE = """
() => ({
  links: [...document.querySelectorAll("a[href]")].map(link => link.href),
  names: [...document.querySelectorAll("[id]")].map(one => one.id),
  broken: [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src),
  unnamed: [...document.images].filter(one => one.getAttribute("alt") === null).map(one => one.src),
})
"""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    if named := os.environ.get("RANKPLUG_SITE"):
        return Path(named)
    folder = tmp_path_factory.mktemp("documentation") / "site"
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site to this machine, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def pages_of(site: Path) -> list[str]:
    return sorted(path.parent.relative_to(site).as_posix() + "/" for path in site.rglob("index.html"))


def test_every_link_of_the_site_leads_somewhere(page, site, address):
    links: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for path in pages_of(site):
        here = urljoin(address, path)
        page.goto(here)
        about = page.evaluate(ABOUT_PAGE)
        assert not about["broken"] and not about["unnamed"], (path, about)
        names[urlsplit(here).path] = about["names"]
        links |= {link: path for link in about["links"] if link.startswith(address)}
    assert not page.problems
    lost = []
    for link, seen_on in links.items():
        parts = urlsplit(link)
        file = site / unquote(parts.path).lstrip("/")
        anchor = unquote(parts.fragment)
        is_there = (file / "index.html" if parts.path.endswith("/") else file).is_file()
        if not is_there or (anchor and names.get(parts.path, [anchor]).count(anchor) != 1):
            lost.append((seen_on, link))
    assert len(links) > 1000 and not lost


@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 420)])
def test_a_page_of_each_kind_is_accessible(scheme, width, page, address, pictures):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    wrong = []
    for path in SAMPLE:
        page.goto(urljoin(address, path))
        page.evaluate("document.querySelectorAll('article details').forEach(one => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{path} scrolls sideways"
        found = axe.run(page, options=LEVEL_AA).response["violations"]
        wrong += [
            (path, one["id"], len(one["nodes"]), [node["html"][:160] for node in one["nodes"][:3]]) for one in found
        ]
        page.screenshot(path=pictures / f"site-{path.strip('/').replace('/', '-') or 'front'}-{width}-{scheme}.png")
    assert not wrong and not page.problems
