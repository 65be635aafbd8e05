"""Names, tracebacks and parameters are text: a report shows them, a notebook receives them, and nothing runs them."""

from __future__ import annotations

import ast
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import nbformat
import papermill
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager
from papermill.parameterize import parameterize_notebook

import rankplug as rp
from rankplug.errors import DataError
from rankplug.plotting import ForestRow, draw_forest
from rankplug.report.notebook_page import notebook_html
from rankplug.report.rendering import markdown_html
from rankplug.report.safe_html import safe_text
from rankplug.store import Store, merge
from rankplug.system import notebooks_folder

FORBIDDEN = {
    "script", "style", "link", "meta", "base", "iframe", "frame", "object", "embed", "applet", "form", "input",
    "button", "select", "textarea", "foreignobject", "use", "image", "animate", "set", "video", "audio", "source",
    "track", "template", "noscript", "plaintext",
    "maction", "annotation-xml", "mglyph", "body", "html",
}  # fmt: skip


TEMPLATES = resources.files("rankplug.report").joinpath("templates")
REPORT, QUERIES = (TEMPLATES.joinpath(name).read_text(encoding="utf-8") for name in ("report.js", "queries.js"))
DATA = re.compile(r'<script type="application/json" id="(?:index|points|groups)">[^<]*</script>')
"""Texts that a page's own script reads: none of them can hold a tag."""


TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
"""The time at which a page was made, or a run began."""


def foreign(page: Path) -> str:
    """Return the body of a page without the report's own script and what it reads."""
    own = REPORT + QUERIES * (page.name == "queries.html")
    return DATA.sub("", page.read_text().partition("<body>")[2].replace(f"<script>{own}</script>", ""))


class Active(HTMLParser):
    """Collects what a browser would run: scripts, handlers of events, and links to code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith(("javascript:", "data:text")):
                self.found.append(f"{tag} {name}={value}")


PARTS = 40


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
def test_a_report_shows_hostile_names_and_outputs_without_running_them(
    part: int, active_texts: list[str], report_of: Callable[[str, Path], list[Path]], tmp_path: Path
) -> None:
    for number, text in enumerate(active_texts[part::PARTS]):
        folder = tmp_path / str(number)
        folder.mkdir()
        pages = report_of(text, folder)
        assert len(pages) == 16 and sum(page.name == "queries.html" for page in pages) == 2
        for page in pages:
            assert not Active(foreign(page)).found, (text, page.name)
            told = TIME.sub("", foreign(page)).replace("4900", "")
            assert "49" not in told, "a template in the text was filled in"


def test_a_forest_draws_formulas_and_what_is_none_as_it_is(
    report_of: Callable[..., list[Path]], tmp_path: Path
) -> None:
    texts = ["$\\frac{$", "a$b$c", "$\\cssId{x}{y}$", "$x$ \\ $"]
    assert len(report_of(texts, tmp_path)) == 2 * (6 + 2 * len(texts))
    claims = ["$Z_{ij}$ is logistic", *texts]
    figure = draw_forest({heading: [ForestRow(words, {}) for words in claims] for heading in texts})
    labels = figure.axes[0].get_yticklabels()[: len(claims)]
    assert [label.get_parse_math() for label in labels] == [True, False, True, False, False]
    figure.canvas.draw()


class Elements(HTMLParser):
    """Collects the elements of a page with the names of their attributes: all that it has but texts and addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *(name for name, _ in attrs)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_scoreboard_has_the_same_elements_whatever_its_names_are(
    part: int, active_texts: list[str], scoreboard_of: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    harmless = scoreboard_of("a", tmp_path / "harmless")
    expected = Elements(harmless.read_text()).found
    assert [tag for tag, *_ in expected].count("script") == 1
    for number, text in enumerate(active_texts[part::PARTS]):
        page = scoreboard_of(text, tmp_path / str(number))
        assert Elements(page.read_text()).found == expected, text
        runs = sorted((page.parent / "combinations").glob("*.html"))
        assert len(runs) == 3
        for path in runs:
            assert not Active(path.read_text().partition("<body>")[2]).found, text


def test_there_are_more_than_two_hundred_different_hostile_texts(active_texts: list[str]) -> None:
    assert len(set(active_texts)) == len(active_texts) > 200


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=200))
def test_no_text_makes_an_active_page(text: str) -> None:
    for start in ("", "<script>", "<img src=x onerror=", "[a](", "<a href='javascript:", "<style>", "$", "$$\n"):
        assert not Active(markdown_html(start + text)).found
        assert not Active(safe_text(start + text)).found


def test_a_notebook_of_another_kind_is_shown_as_text(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell(
        "1", outputs=[nbformat.v4.new_output("display_data", {"application/x": "<script>"})]
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "odd.ipynb")
    assert not Active(notebook_html(tmp_path / "odd.ipynb")).found


HOSTILE_PARAMETERS = (
    'a"; import os; os.abort() #',
    "a'; import os; os.abort() #",
    "a\nimport os\nos.abort()",
    "a\r\nimport os\ros.abort()",
    "%run elsewhere.py",
    "!touch canary",
    "\\",
    "a\\",
    '"""\nimport os\n"""',
    "a\u2028b\x00c\x0bd",
    "{7 * 7}",
    "${HOME}",
)


@pytest.mark.parametrize("value", HOSTILE_PARAMETERS)
def test_a_notebook_receives_a_parameter_as_it_was_given(value: str) -> None:
    """Papermill writes one assignment of one constant into the notebook."""
    notebook = parameterize_notebook(
        nbformat.v4.new_notebook(
            metadata={
                "kernelspec": {"name": "python3", "language": "python", "display_name": "Python"},
                "papermill": {},
            }
        ),
        {"dataset": value, "metrics": [value, {"deep": value}]},
        kernel_name="python3",
        language="python",
    )
    injected = next(cell for cell in notebook.cells if "injected-parameters" in cell.metadata.tags)
    # IPython looks for magic words before Python sees the text.
    first, second = ast.parse(TransformerManager().transform_cell(injected.source)).body
    assert isinstance(first, ast.Assign) and ast.literal_eval(first.value) == value
    assert isinstance(second, ast.Assign) and ast.literal_eval(second.value) == [value, {"deep": value}]


@pytest.mark.parametrize("value", HOSTILE_PARAMETERS)
@pytest.mark.needs("package rankplug_jupyter")
def test_a_hostile_part_of_a_combination_is_refused_before_a_kernel_starts(value: str, tmp_path: Path) -> None:
    with pytest.raises(rp.RankplugError):
        papermill.execute_notebook(
            notebooks_folder() / "combination.ipynb",
            tmp_path / "out.ipynb",
            {"dataset": value},
            engine_name="rankplug",
            progress_bar=False,
        )


def test_a_hostile_value_inside_a_plugins_parameter_names_a_file_and_nothing_else(tmp_path: Path) -> None:
    for value in HOSTILE_PARAMETERS:
        combination = rp.Combination(
            dataset=str(rp.Reference("synthetic", {"queries": 20})), backend="lightgbm", loss="mse"
        )
        named = SimpleNamespace(**combination.model_dump() | {"scorer": value}, identity=combination.identity)
        target = Store(tmp_path / "store").notebook_path(cast(rp.Combination, named))
        assert target.parent == tmp_path / "store" / "notebooks"


def test_a_name_never_leads_out_of_the_store(tmp_path: Path) -> None:
    other, here = tmp_path / "other", Store(tmp_path / "here")
    (other / "notebooks").mkdir(parents=True)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (other / "notebooks" / "x.ipynb").symlink_to(secret)
    merge(here, [other])
    assert not (here.folder / "notebooks" / "x.ipynb").exists()


def made_archive(path: Path, names: list[str], content: bytes) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for kind, name in ((tarfile.SYMTYPE, "vali.txt"), (tarfile.LNKTYPE, "test.txt"), (tarfile.CHRTYPE, "dev")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
    return path


@pytest.mark.parametrize("ending", [".zip", ".tgz"])
def test_a_data_set_of_hostile_names_is_read_and_nothing_is_written_beside_the_cache(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")
    lines = "".join(f"{n % 2} qid:{n // 5} 1:{n}\n" for n in range(50)).encode()
    names = ["../../train.txt", "/tmp/vali.txt", "..\\..\\test.txt"]
    path = made_archive(tmp_path / f"hostile{ending}", names, lines)
    before = {found for found in tmp_path.parent.rglob("*") if tmp_path / "cache" not in found.parents}
    split = rp.load({"name": "letor-file", "path": str(path)})
    assert [part.documents for part in split] == [50, 50, 50]
    after = {found for found in tmp_path.parent.rglob("*") if tmp_path / "cache" not in found.parents}
    assert after - before == {tmp_path / "cache"}


def test_a_hostile_sample_archive_writes_two_texts_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankplug_data import mslr_sample

    lines = "".join(f"{n % 2} qid:{n // 5} 1:{n}\n" for n in range(50)).encode()
    names = [f"../../{text}" for text in mslr_sample.TEXTS] + ["../evil.txt", "/tmp/evil.txt"]
    made_archive(tmp_path / "data.tgz", names, lines).rename(tmp_path / f"{mslr_sample.NAME}.tar.xz")
    for module in ("rankplug_data.mslr_sample", "rankplug_data.public.sources"):
        monkeypatch.setattr(f"{module}.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path))
    sample = mslr_sample.mslr_sample()
    assert sample is not None and sample.documents > 0
    kept = tmp_path / "cache" / "data" / mslr_sample.NAME
    assert sorted(path.name for path in kept.iterdir()) == sorted(mslr_sample.TEXTS)
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_bomb_in_an_archive_is_refused_before_it_fills_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("rankplug_data.text.compression.ALWAYS_ALLOWED", 1 << 20)
    monkeypatch.setattr("rankplug_data.text.compression.LARGEST_GROWTH", 10)
    line = b"0 qid:1 1:1\n"
    path = made_archive(tmp_path / "bomb.tgz", ["train.txt", "vali.txt", "test.txt"], line * 2_000_000)
    with pytest.raises(DataError, match="grows to more than 10 times"):
        rp.load({"name": "letor-file", "path": str(path)})
    written = sum(found.stat().st_size for found in (tmp_path / "cache").rglob("*") if found.is_file())
    assert written < 1 << 20


def test_a_failure_with_a_hostile_traceback_is_listed_as_text(tmp_path: Path) -> None:
    from rankplug.store import Trial, failed_result, query, write_table

    store = Store(tmp_path)
    trial = Trial(rp.Combination(dataset="synthetic", backend="lightgbm", loss="mse"))
    store.write(failed_result(trial, "'; drop table failures; -- <script>alert(1)</script>"))
    frame = query("select failure from failures", store)
    assert frame["failure"].tolist() == ["'; drop table failures; -- <script>alert(1)</script>"]
    assert json.loads(write_table(frame, "json"))[0]["failure"].startswith("'; drop")
