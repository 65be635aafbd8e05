"""An official data set is fetched, found, prepared and opened as lists, and compared with published numbers."""

import dataclasses
import functools
import hashlib
import io
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from rankplug_data.catalogue import BENCHMARKS, Download, PublishedCounts
from rankplug_data.official import OfficialDataset
from rankplug_data.prepared import Statistics

import rankplug as rp
from rankplug.errors import DataError

SIZES = {"set1.train.txt": 6, "set1.valid.txt": 2, "set1.test.txt": 3}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def archive():
    """Pack a release of one fold in the names of Yahoo's."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for first, (name, queries) in enumerate(SIZES.items()):
            lines = [f"{row % 5} qid:{100 * first + row // 2} 1:0.5 700:{row}\n" for row in range(2 * queries)]
            archive.writestr(f"ltrc_yahoo/{name}", "".join(lines))
    return packed.getvalue()


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    """Return Yahoo's set as if it could be fetched, from a server of this test."""
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("RANKPLUG_DATA", raising=False)
    (tmp_path / "served").mkdir()
    content = archive()
    (tmp_path / "served" / "ltrc_yahoo.zip").write_bytes(content)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path / "served")))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/ltrc_yahoo.zip"
    (yahoo,) = (benchmark for benchmark in BENCHMARKS if benchmark.name == "yahoo-c14")
    download = Download(file="ltrc_yahoo.zip", urls=(url,), sha256=hashlib.sha256(content).hexdigest())
    yield OfficialDataset(
        dataclasses.replace(yahoo, downloads={"": (download,)}, published=PublishedCounts(queries=11, documents=22))
    )
    server.shutdown()
    server.server_close()


@pytest.mark.filterwarnings("error")
def test_what_was_fetched_is_found_prepared_and_loaded(dataset, tmp_path):
    parameters = dataset.parameters()()
    assert dataset.state(parameters) == "can be fetched"
    path = dataset.get(parameters, accept_licence=True)
    assert path == str(tmp_path / "cache" / "downloads" / "ltrc_yahoo.zip")
    assert dataset.state(parameters) == "found"
    split = dataset(parameters, 1, 0)
    assert [len(part) for part in split] == list(SIZES.values())
    assert split.train.features.shape == (12, 700)
    assert dataset.state(parameters) == "prepared"


def test_nothing_is_fetched_before_the_licence_is_accepted(dataset, tmp_path):
    with pytest.raises(DataError, match="has a licence"):
        dataset.get(dataset.parameters()(), accept_licence=False)
    assert not (tmp_path / "cache").exists()


def test_a_source_that_lacks_a_part_is_passed_over(dataset, tmp_path, monkeypatch):
    incomplete = tmp_path / "data" / "ltrc_yahoo"
    incomplete.mkdir(parents=True)
    (incomplete / "set1.train.txt").write_text("1 qid:1 1:1\n")
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path / "data"))
    parameters = dataset.parameters()()
    with pytest.raises(
        DataError, match=r"ltrc_yahoo does not hold yahoo-c14: expected set1.train.txt.*found fold 1 train"
    ):
        dataset(parameters, 1, 0)
    dataset.get(parameters, accept_licence=True)
    assert len(dataset(parameters, 1, 0).test) == 3


def test_data_other_than_those_released_say_what_they_are(dataset):
    parameters = dataset.parameters()()
    assert dataset.fingerprint(parameters) == ""
    dataset.get(parameters, accept_licence=True)
    dataset(parameters, 1, 0)
    digest = dataset.fingerprint(parameters)
    assert digest
    released = dataclasses.replace(dataset.benchmark, fingerprints={"": (digest,)})
    assert OfficialDataset(released).fingerprint(parameters) == ""


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_published_numbers_add_up(benchmark):
    published = benchmark.published
    if published.labels:
        assert sum(published.labels) == published.documents
    if published.label_percent:
        assert sum(published.label_percent) == pytest.approx(100, abs=0.02)
    if published.parts:
        assert sum(queries for queries, _ in published.parts.values()) == published.queries
        assert sum(documents for _, documents in published.parts.values()) == published.documents


def differences(**published):
    lists = rp.Lists(np.ones((4, 2), np.float32), np.array([0, 1, 1, 2], np.float32), [0, 3, 4])
    return Statistics.count([lists], 2).differences(PublishedCounts(**published), {"train": lists, "test": lists})


def test_each_number_that_differs_is_printed():
    parts = {"test": (1, 4), "train": (2, 4)}
    assert differences(queries=2, documents=5_000, labels=(1, 1, 1, 3), used_features=1, parts=parts) == [
        "documents: published 5,000, found 4",
        "features that are not zero throughout: published 1, found 2",
        "documents of label 1: published 1, found 2",
        "documents of label 3: published 3, found 0",
        "queries of test: published 1, found 2",
    ]


def test_percentages_are_compared_as_printed():
    assert differences(queries=2, documents=4, label_percent=(25.0, 50.01, 25.0)) == [
        "percent of label 1: published 50.01, found 50.0"
    ]
