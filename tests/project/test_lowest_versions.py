"""The oldest versions that are tested are the oldest that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
INSTALLED_NOWHERE = {"python-terrier"}
"""Packages that only some users want and no environment here has; their tests run where a developer has them."""
ONE_BUILD_ONLY = {"torch"}
"""Tested with the one version that every environment here has, whose build needs no graphics card."""


def bounds() -> Iterator[tuple[str, Version]]:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = content["project"], content["dependency-groups"]
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    for text in [*project["dependencies"], *extras, *groups["dev"]]:
        requirement = Requirement(text)
        for specifier in requirement.specifier:
            if specifier.operator == ">=":
                yield canonicalize_name(requirement.name), Version(specifier.version)


TESTED = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints-lowest.txt").read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "lowest"), [bound for bound in bounds() if bound[0] not in ONE_BUILD_ONLY | INSTALLED_NOWHERE]
)
def test_the_lowest_version_that_is_allowed_is_tested(name: str, lowest: Version) -> None:
    tested = {canonicalize_name(package): Version(version) for package, version in TESTED.items()}
    # A bound such as >=6.29 means the first release of that series, which may be 6.29.1.
    assert tested[name].release[: len(lowest.release)] == lowest.release, f"{name} {lowest}"
