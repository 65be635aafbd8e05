"""The public data sets: their sources, the names of their files, and the numbers that they should have."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

PARTS = ("train", "valid", "test")

LETOR_NAMES: Mapping[str, tuple[str, ...]] = {
    "train": ("train.txt", "trainingset.txt"),
    "valid": ("vali.txt", "validationset.txt", "valid.txt"),
    "test": ("test.txt", "testset.txt"),
}
"""File names of LETOR 4.0 and MSLR, and of LETOR 2.0 and 3.0."""


@dataclass(frozen=True, kw_only=True)
class PublishedCounts:
    """The numbers of a data set as its makers or users print them.

    ``labels`` has the documents of label 0, 1, 2, ..., ``label_percent`` the same in percent where only that is
    published, ``parts`` queries and documents of train, valid and test for sets of one fold. ``confirmed`` numbers have
    been counted on the files.
    """

    queries: int
    documents: int
    used_features: int | None = None
    labels: tuple[int, ...] = ()
    label_percent: tuple[float, ...] = ()
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    confirmed: bool = False


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file to download: its place below the downloads, addresses that are tried in turn, and its digest."""

    file: str
    urls: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A public data set.

    Args:
        name: its name in rankplug.
        title: its makers' name for it.
        summary: one line.
        page: the official page.
        licence: what may be done with it, and how one agrees.
        citation: how to cite it.
        instructions: how to download it manually.
        published: its numbers.
        features: number of its columns, of which some may be zero throughout.
        folds: number of official folds; five share five parts, see :mod:`rankplug_data.releases`.
        archives: names of its archive or folder, without the ending, the official one first.
        inside: names of its folder where an archive holds several sets.
        versions: names of the folders of its versions, the default first; empty where there is one.
        files: names of the files of each part.
        downloads: files of each version, empty where a person has to click.
        mirrors_note: what the downloads are, if not the official release.
        fingerprints: digest of each fold of each version, where the release has been read.
    """

    name: str
    title: str
    summary: str
    page: str
    licence: str
    citation: str
    instructions: str
    published: PublishedCounts
    features: int
    folds: int
    archives: tuple[str, ...]
    inside: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: LETOR_NAMES)
    downloads: Mapping[str, tuple[Download, ...]] = field(default_factory=dict)
    mirrors_note: str = ""
    fingerprints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


LETOR_PAGE = "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
MSLR_PAGE = "https://www.microsoft.com/en-us/research/project/mslr/"
META_TOOLKIT = (
    "https://raw.githubusercontent.com/meta-toolkit/meta/{commit}",
    "https://cdn.jsdelivr.net/gh/meta-toolkit/meta@{commit}",
)
"""Addresses of one repository, whose files a commit determines."""
ONEDRIVE = ("https://api.onedrive.com/v1.0/shares/{share}/root/content", "https://1drv.ms/u/{share}?download=1")
"""Addresses of a file that Microsoft Research shares: an interface, which users report to be closed, and its page."""

LETOR_LICENCE = "Microsoft Research's terms for LETOR: research use; read and accept them on the official page."
LETOR2_CITATION = (
    "T.-Y. Liu, J. Xu, T. Qin, W. Xiong, H. Li: LETOR: Benchmark dataset for research on learning to rank for"
    " information retrieval. SIGIR Workshop on Learning to Rank for Information Retrieval, 2007."
)
LETOR3_CITATION = (
    "T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR: A benchmark collection for research on learning to rank for information"
    " retrieval. Information Retrieval 13, 2010."
)
LETOR4_CITATION = "T. Qin, T.-Y. Liu: Introducing LETOR 4.0 datasets. arXiv:1306.2597, 2013."
_letor = functools.partial(Benchmark, page=LETOR_PAGE, licence=LETOR_LICENCE, folds=5)
VERSIONS = ("QueryLevelNorm", "Feature-min", "Feature-null")
"""Versions of LETOR 3.0: per-query min-max; raw with the query's minimum for what is missing; raw with NULL for it."""


def _five_tests(folder: str, commit: str, file: str, digests: tuple[str, ...]) -> tuple[Download, ...]:
    """Return the five disjoint test files, from which all folds are made."""
    return tuple(
        Download(
            file=f"{folder}/Fold{fold}/{file}",
            urls=tuple(f"{address.format(commit=commit)}/data/{folder}/Fold{fold}/{file}" for address in META_TOOLKIT),
            sha256=digest,
        )
        for fold, digest in enumerate(digests, start=1)
    )


def _mslr(size: str, share: str, sha256: str, published: PublishedCounts, copies: tuple[str, ...] = ()) -> Benchmark:
    return Benchmark(
        name=f"mslr-{size.lower()}",
        title=f"MSLR-{size}",
        summary=f"Microsoft's web search data, {published.queries:,} queries, labels 0-4, 5 folds",
        page=MSLR_PAGE,
        licence="Microsoft Research's terms for MSLR: research use; read and accept them on the official page.",
        citation=LETOR4_CITATION,
        instructions=f"Open the page, accept the terms and save MSLR-{size}.zip.",
        published=published,
        features=136,
        folds=5,
        archives=(f"MSLR-{size}",),
        downloads={
            "": (
                Download(
                    file=f"MSLR-{size}.zip",
                    urls=(*(address.format(share=share) for address in ONEDRIVE), *copies),
                    sha256=sha256,
                ),
            )
        },
        mirrors_note="the last is a third-party copy, verified by the digest of the release" if copies else "",
    )


def _gov(task: str, year: int, about: str, queries: int, documents: int) -> Benchmark:
    name = f"{task}{year}"
    return _letor(
        name=name,
        title=f"LETOR 3.0 {name.upper()}",
        summary=f"TREC {year} {about} on .Gov (LETOR 3.0), {queries} queries, labels 0-1, 5 folds",
        citation=LETOR3_CITATION,
        instructions=(
            "Open the page, choose LETOR 3.0, accept the terms and save Gov.rar (all six .Gov sets). Unpack it with"
            f" 7z x or unar: the folder {year}_{task}_dataset is this set."
        ),
        published=PublishedCounts(queries=queries, documents=documents),
        features=64,
        archives=(name.upper(), f"{year}_{task}_dataset", "Gov", "LETOR3.0", "LETOR"),
        inside=(name.upper(), f"{year}_{task}_dataset"),
        versions=VERSIONS,
    )


BENCHMARKS: tuple[Benchmark, ...] = (
    _mslr(
        "WEB10K",
        "s!AtsMfWUz5l8nbOIoJ6Ks0bEMp78",
        "2902142ea33f18c59414f654212de5063033b707d5c3939556124b1120d3a0ba",
        PublishedCounts(queries=10_000, documents=1_200_192, labels=(624_263, 386_280, 159_451, 21_317, 8_881)),
        ("https://storage.googleapis.com/personalization-takehome/MSLR-WEB10K.zip",),
    ),
    _mslr(
        "WEB30K",
        "s!AtsMfWUz5l8nbXGPBlwD1rnFdBY",
        "08cb7977e1d5cbdeb57a9a2537a0923dbca6d46a76db9a6afc69e043c85341ae",
        PublishedCounts(queries=31_531, documents=3_771_125, labels=(1_940_952, 1_225_770, 504_958, 69_010, 30_435)),
    ),
    Benchmark(
        name="yahoo-c14",
        title="Yahoo! Learning to Rank Challenge, set 1 (C14)",
        summary="Yahoo's web search data, 29,921 queries, labels 0-4, one split",
        page="https://webscope.sandbox.yahoo.com/catalog.php?datatype=c",
        licence="Yahoo Webscope's agreement: research use, after registration, not to be passed on.",
        citation="O. Chapelle, Y. Chang: Yahoo! Learning to Rank Challenge overview. JMLR Proceedings 14, 2011.",
        instructions=(
            'Register, ask for catalogue C, data set "C14 Yahoo! Learning to Rank Challenge" (421 MB), and take the'
            " archive ltrc_yahoo out of what you are sent."
        ),
        published=PublishedCounts(
            queries=29_921,
            documents=709_877,
            used_features=519,
            label_percent=(21.92, 50.22, 22.30, 3.88, 1.67),
            parts={"train": (19_944, 473_134), "valid": (2_994, 71_083), "test": (6_983, 165_660)},
        ),
        features=700,
        folds=1,
        archives=("ltrc_yahoo", "Webscope_C14B", "Webscope_C14", "dataset"),
        files={"train": ("set1.train.txt",), "valid": ("set1.valid.txt",), "test": ("set1.test.txt",)},
    ),
    Benchmark(
        name="istella-s",
        title="Istella-S LETOR",
        summary="Istella's web search data, sampled, 33,018 queries, labels 0-4, one split",
        page="http://quickrank.isti.cnr.it/istella-dataset/",
        licence="Istella LETOR Licence Agreement: non-commercial use; read and accept it on the official page.",
        citation=(
            "D. Dato, C. Lucchese, F. M. Nardini, S. Orlando, R. Perego, N. Tonellotto, R. Venturini: Fast ranking with"
            " additive ensembles of oblivious and non-oblivious regression trees. ACM TOIS 35(2), 2016."
        ),
        instructions="Open the page, accept the agreement and save istella-s-letor.tar.gz.",
        published=PublishedCounts(
            queries=33_018,
            documents=3_408_630,
            parts={"train": (19_245, 2_043_304), "valid": (7_211, 684_076), "test": (6_562, 681_250)},
        ),
        features=220,
        folds=1,
        archives=("istella-s-letor",),
        downloads={
            "": (
                Download(
                    file="istella-s-letor.tar.gz",
                    urls=(
                        "http://library.istella.it/dataset/istella-s-letor.tar.gz",
                        # Of the data set's own authors, for their tool RankEval.
                        "http://rankeval.isti.cnr.it/rankeval-datasets/istella-s-letor/dataset/istella-s-letor.tar.gz",
                    ),
                    sha256="41b21116a3650cc043dbe16f02ee39f4467f9405b37fdbcc9a6a05e230a38981",
                ),
            )
        },
    ),
    _letor(
        name="ohsumed",
        title="LETOR 3.0 OHSUMED",
        summary="medical abstracts (LETOR 3.0), 106 queries, labels 0-2, 5 folds, raw or normalised",
        citation=LETOR3_CITATION,
        instructions="Open the page, choose LETOR 3.0, accept the terms and save OHSUMED.zip.",
        published=PublishedCounts(queries=106, documents=16_140, labels=(11_303, 2_585, 2_252), confirmed=True),
        features=45,
        archives=("OHSUMED", "LETOR3.0", "LETOR"),
        inside=("OHSUMED",),
        versions=VERSIONS,
        downloads={
            "QueryLevelNorm": _five_tests(
                "OHSUMED/QueryLevelNorm",
                "ca344dfe6a7bace9b818a6ad4f764c1ad581cf99",
                "test.txt",
                (
                    "526f9158b85fb9b6446f9c87e1ccc428f7e54d639800e108c091cb70706a88e6",
                    "77db6790a7023ed6d9bd2b9b2fa8528e1d82aa7e896863d3ed844f635870fbe2",
                    "935539d33380570cdee765e38f8c2796cb4c04d01a50e50374e8bc7d45872571",
                    "1d1ff784d9fdc4cd491a0d70fdd4dfb1adada943a0eb2e3954d74187158160da",
                    "49975c7319672e4fba82d00c69911b8514752bb2610077a5f432d7efc2fa5fc0",
                ),
            ),
            "Feature-min": _five_tests(
                "OHSUMED/Feature-min",
                "ca344dfe6a7bace9b818a6ad4f764c1ad581cf99",
                "testset.txt",
                (
                    "11a83075e00c376f24c4c5b4954a220393dc259e3fb4bbde22ab85367cc6986b",
                    "c9357efc8f1dd050ce5e0d1e6d2ea8c15177925b6da219c37d399195383f392e",
                    "0464b8a30863271de46dffbf716ec4c41b89620e77699f9511dd6d3933952cb6",
                    "85c455f8386dd8b58a83138b2d14642fb65d79f6d4340033ae23f4c69aa2973a",
                    "e76543eb37086d9ecf913afc21a9204cde09b3a1967d3a14d795068ac7abc98c",
                ),
            ),
        },
        mirrors_note="copies in the repository meta-toolkit/meta",
        fingerprints={
            "QueryLevelNorm": (
                "613f26ff828c84b7",
                "3c64ece95f8d31fe",
                "a20f4737e17bab35",
                "1dcfaa613fd35210",
                "330a29782ff380a3",
            ),
            "Feature-min": (
                "8f717d2fb1131716",
                "4613ca1dc10351fc",
                "47cb9e1136c9c7e1",
                "9527a98e9d926ff7",
                "c6d28b663cd7a8c8",
            ),
        },
    ),
    _letor(
        name="ohsumed-letor2",
        title="LETOR 2.0 OHSUMED",
        summary="medical abstracts (LETOR 2.0), 106 queries, labels 0-2, 5 folds, raw, with official baselines",
        citation=LETOR2_CITATION,
        instructions=(
            "The official page keeps the later releases; a copy of this one lies in the repository marcosfpr/ranklibpp"
            " on GitHub, folder tests/benchmarks/OHSUMED. Read the terms, save its five folders Fold1 to Fold5."
        ),
        published=PublishedCounts(queries=106, documents=16_140, labels=(11_303, 2_585, 2_252), confirmed=True),
        features=25,
        archives=("OHSUMED-LETOR2",),
        fingerprints={
            "": ("270e5c00fac35319", "7a5b318af70c72e9", "828da3ebb74a0c38", "c4f033c93dfed9da", "441872d560012ef7")
        },
    ),
    _letor(
        name="mq2007",
        title="LETOR 4.0 MQ2007",
        summary="TREC 2007 million query track (LETOR 4.0), 1,692 queries, labels 0-2, 5 folds",
        citation=LETOR4_CITATION,
        instructions=(
            "Open the page, choose LETOR 4.0, accept the terms and save MQ2007.rar (supervised ranking). Unpack it with"
            " 7z x or unar."
        ),
        published=PublishedCounts(queries=1_692, documents=69_623, labels=(51_632, 14_128, 3_863), confirmed=True),
        features=46,
        archives=("MQ2007", "LETOR4.0", "LETOR"),
        inside=("MQ2007",),
    ),
    _letor(
        name="mq2008",
        title="LETOR 4.0 MQ2008",
        summary="TREC 2008 million query track (LETOR 4.0), 784 queries, labels 0-2, 5 folds",
        citation=LETOR4_CITATION,
        instructions=(
            "Open the page, choose LETOR 4.0, accept the terms and save MQ2008.rar (supervised ranking). Unpack it with"
            " 7z x or unar."
        ),
        published=PublishedCounts(queries=784, documents=15_211, labels=(12_279, 2_001, 931), confirmed=True),
        features=46,
        archives=("MQ2008", "LETOR4.0", "LETOR"),
        inside=("MQ2008",),
        downloads={
            "": _five_tests(
                "MQ2008",
                "eab9748c3c40da28619f043c99d030e1ca66401d",
                "test.txt",
                (
                    "c68c52feb1ecae7f17b64c8e2fda2098302681bbd4ea5fad8c73a1d32a1cf2b2",
                    "cbd42504549a2388f6c0aefdb506f22074225b574c7a5df10194174c9b00e4e0",
                    "055ac792cb8f7d5a029090b8acbfb6c57323339d1371251bf2465ac182aa8605",
                    "a03fe2b6e76479de60fecdb37d560a40a4e899b0cd685553d2da31ea205af1ab",
                    "a239850bc6fe960ad08c2b7b0d99db90fe976dd93a15358e98036591b4e7a2ac",
                ),
            ),
        },
        mirrors_note="copies in the repository meta-toolkit/meta",
        fingerprints={
            "": ("1f4de6b010428b64", "f7c813074bfae2d6", "cc4834420ff3e635", "6f0170a32b75fa7f", "40aef555c9259855")
        },
    ),
    Benchmark(
        name="yandex",
        title="Yandex relevance prediction (jmll)",
        summary="Yandex's web search data, 3,334 queries, labels 0-4, train and test, validation sampled from train",
        page="https://github.com/spbsu-ml-community/jmll",
        licence="The repository names no licence: link to it, and do not pass the data on.",
        citation="Yandex: Internet Mathematics contest data, in spbsu-ml-community/jmll, commit b52281a.",
        instructions=(
            "Take features.txt.gz and featuresTest.txt.gz from ml/src/test/resources/com/expleague/ml of the repository"
            " (commit b52281a), and write them as LETOR text to train.txt and test.txt in a folder Yandex."
        ),
        published=PublishedCounts(
            queries=3_334,
            documents=59_061,
            labels=(31_161, 10_961, 15_798, 897, 244),
            confirmed=True,
        ),
        features=50,
        folds=1,
        archives=("Yandex",),
        files={"train": ("train.txt",), "test": ("test.txt",)},
        fingerprints={"": ("152b1d5ceae4c00a",)},
    ),
    _gov("td", 2003, "topic distillation", 50, 49_058),
    _gov("td", 2004, "topic distillation", 75, 74_146),
    _gov("hp", 2003, "homepage finding", 150, 147_606),
    _gov("hp", 2004, "homepage finding", 75, 74_409),
    _gov("np", 2003, "named page finding", 150, 148_657),
    _gov("np", 2004, "named page finding", 75, 73_834),
)
