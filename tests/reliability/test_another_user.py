"""A user who may write neither an installation nor a home trains, and shares what others have compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights to files are others there")

NOBODY = 65534
PROGRAM = """
import json, os, sys, warnings
import rankplug as rp
from rankplug.losses.lifted_losses import lifted_loss
from rankplug.registry import registry

data = rp.load("synthetic[queries=20,documents=8]")
FIT = {"backend": "lbfgs[iterations=3]", "train": data.train, "valid": data.valid}
# Someone else may be unable to read this interpreter's library, so what is needed of it is loaded first.
rp.fit(**FIT, loss="cross_entropy")
own_home, own_cache, user, mask = sys.argv[1:]
os.umask(int(mask, 8))
os.environ |= {"HOME": own_home, "RANKPLUG_CACHE": own_cache}
os.environ.pop("XDG_CACHE_HOME", None)
if user != "same":
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = rp.fit(**FIT, loss="listnet")
specification = registry().find("loss", "listnet").specification
stats = lifted_loss(specification.load(), None, specification.shift_invariant).stats
print(json.dumps({
    "weights": model.weights.tolist(),
    "found": sum(stats.cache_hits.values()),
    "warnings": [str(one.message) for one in caught],
}))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder that other users reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


def train(cache: Path, home: Path, other: bool, umask: int = 0o022) -> dict[str, Any]:
    """Train in a new process of this user, or of another one where we may become that, and return what it gives."""
    user = str(NOBODY) if other and os.geteuid() == 0 else "same"
    words = [sys.executable, "-c", PROGRAM, str(home), str(cache), user, oct(umask)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_training_needs_no_home_and_no_writable_installation(folder: Path) -> None:
    home, cache = folder / "home", folder / "cache"
    home.mkdir(mode=0o500)
    cache.mkdir()
    cache.chmod(0o777)
    found = train(cache, home, other=True)
    assert found["warnings"] == [] and found["found"] == 0
    assert list((cache / "kernels" / "__pycache__").glob("*.nbc"))
    assert train(cache, home, other=True) == found | {"found": 1}


@pytest.mark.slow
def test_another_user_takes_compiled_code_from_a_cache_that_only_its_owner_writes(folder: Path) -> None:
    home, cache = folder / "home", folder / "cache"
    home.mkdir(mode=0o500)
    ours = train(cache, folder, other=False)
    kernels = cache / "kernels"
    for path in (kernels, kernels / "__pycache__"):
        path.chmod(0o555)
    theirs = train(cache, home, other=True)
    assert theirs == ours | {"found": 1}


@pytest.mark.slow
def test_training_goes_on_where_compiled_code_cannot_be_kept(folder: Path) -> None:
    cache = folder / "cache"
    ours = train(cache, folder, other=False)
    (folder / "file").write_text("in the way")
    found = train(folder / "file" / "cache", folder, other=True)
    assert found["weights"] == ours["weights"]
    assert len(set(found["warnings"])) == 1
    assert found["warnings"][0].startswith(f"compiled code cannot be kept in {folder}/file/cache (")
    assert found["warnings"][0].endswith("allow writing there, or set RANKPLUG_CACHE to another folder")


@pytest.mark.slow
@pytest.mark.parametrize(("umask", "rights"), [(0o077, 0o600), (0o002, 0o664)])
def test_compiled_code_has_the_rights_that_the_umask_gives(folder: Path, umask: int, rights: int) -> None:
    train(folder / "cache", folder, other=False, umask=umask)
    files = [path for path in (folder / "cache" / "kernels").rglob("*") if path.suffix in (".py", ".nbi", ".nbc")]
    assert {path.suffix for path in files} == {".py", ".nbi", ".nbc"}
    assert {path.stat().st_mode & 0o777 for path in files} == {rights}
