"""The grammar continues what has been typed: names, then parameters, then their words."""

from __future__ import annotations

import pytest

from rankplug.registry import complete_reference, registry


@pytest.mark.parametrize(
    ("typed", "continued"),
    [
        ("[mse,lambdar", ["[mse,lambdarank", "[mse,lambdarank["]),
        ("lambdarank[sigma=2,no", ["lambdarank[sigma=2,norm="]),
        ("lambdarank[norm=", ["lambdarank[norm=false", "lambdarank[norm=true"]),
    ],
)
def test_a_reference_is_continued(typed: str, continued: list[str]) -> None:
    registry().find("loss", "lambdarank")
    assert complete_reference("loss", typed) == continued
