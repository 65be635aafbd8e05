"""A small release of five folds, and what it takes to prepare it."""

import numpy as np
import pytest
from rankplug_data.preparation.layout import Layout
from rankplug_data.preparation.preparing import Request, files_of
from rankplug_data.public.benchmark import LETOR_NAMES
from rankplug_data.text.letor import Columns

FEATURES = 6


def share_text(share):
    """Write the text of part S1 ... S5: seven queries each, with ids of its own."""
    generator = np.random.default_rng(share)
    lines = []
    for query in range(7):
        for document in range(int(generator.integers(1, 9))):
            values = " ".join(f"{column + 1}:{generator.normal():.6f}" for column in range(FEATURES))
            label = int(generator.integers(0, 3))
            lines.append(f"{label} qid:{100 * share + query} {values} #docid = D{share}-{query}-{document}\n")
    return "".join(lines)


SHARES = {share: share_text(share) for share in range(1, 6)}


def fold_texts(fold):
    """Train, validation and test text of a fold, in the official rotation."""
    turned = [SHARES[(fold - 1 + step) % 5 + 1] for step in range(5)]
    return {"train": "".join(turned[:3]), "valid": turned[3], "test": turned[4]}


@pytest.fixture
def texts():
    """Write the text of each part of each fold."""
    return {fold: fold_texts(fold) for fold in range(1, 6)}


@pytest.fixture
def release(tmp_path, texts):
    """Write a folder with the release, under the names of LETOR 4.0."""
    names = {"train": "train.txt", "valid": "vali.txt", "test": "test.txt"}
    folder = tmp_path / "SET"
    for fold, parts in texts.items():
        for part, text in parts.items():
            path = folder / f"Fold{fold}" / names[part]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


@pytest.fixture
def request_for():
    """Return a function that makes a request for a source."""

    def make(source, folds=5, **options):
        return Request(
            name="set",
            version="",
            source=source,
            files=files_of(source, Layout(folds, LETOR_NAMES)),
            folds=folds,
            columns=Columns(count=FEATURES),
            expected="train.txt, vali.txt, test.txt",
            **options,
        )

    return make
