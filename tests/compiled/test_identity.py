"""The digest that names machine code and session losses covers everything that changes what a function computes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from rankplug.compiled.identity import digest_of

IMPORTS = {
    "from pkg.consts import FACTOR": "FACTOR",
    "from pkg import consts": "consts.FACTOR",
    "from . import consts": "consts.FACTOR",
    "from .consts import FACTOR": "FACTOR",
    "import pkg.consts as consts": "consts.FACTOR",
    "import pkg.consts": "pkg.consts.FACTOR",
    "from pkg.consts import ARRAY": "ARRAY[0]",
    "from pkg.consts import overloaded": "overloaded(1.0)",
}
CONSTANTS = """
    import numpy as np
    from numba.extending import overload

    FACTOR = {factor}
    ARRAY = np.array([{factor}])

    def overloaded(number):
        return number

    @overload(overloaded)
    def _overloaded(number):
        return lambda number: {factor} * number
"""
LOSS = """
    from rankplug import list_loss
    {statement}

    @list_loss
    def scaled(scores, gradient):
        return {expression} * scores[0]
"""
EVALUATE = """
    import importlib
    import os
    from rankplug.compiled import make
    import numpy as np

    losses = [importlib.import_module(f"pkg.loss{{number}}").scaled for number in range({number})]
    {between}
    for loss in losses:
        lifted = make("def lifted(s, g):\\n    return one_list(s, g)\\n", {{"one_list": loss}})
        print(lifted(np.ones(1), np.ones(1)))
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs code in a fresh process whose cache and modules lie in a folder."""

    def run(code: str, hash_seed: int = 0) -> str:
        environment = os.environ | {
            "RANKPLUG_CACHE": str(tmp_path / "cache"),
            "PYTHONPATH": str(tmp_path),
            "PYTHONHASHSEED": str(hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def values(run, tmp_path):
    """Return a function that writes a package with a constant and evaluates losses that import it in all styles."""

    def values(factor: float, between: str = "") -> list[float]:
        package = tmp_path / "pkg"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text("")
        (package / "consts.py").write_text(textwrap.dedent(CONSTANTS).format(factor=factor))
        for number, (statement, expression) in enumerate(IMPORTS.items()):
            loss = textwrap.dedent(LOSS).format(statement=statement, expression=expression)
            (package / f"loss{number}.py").write_text(loss)
        code = textwrap.dedent(EVALUATE).format(number=len(IMPORTS), between=between)
        return [float(line) for line in run(code).splitlines()]

    return values


def test_an_edited_constant_is_compiled_again_at_any_time(values, tmp_path):
    """Also one that is edited after the import and before the first compilation."""
    path = str(tmp_path / "pkg" / "consts.py")
    edit = f"text = open({path!r}).read(); open({path!r}, 'w').write(text.replace('2.0', '5.0'))"
    assert values(2.0, edit) == [2.0] * len(IMPORTS)
    assert values(5.0) == [5.0] * len(IMPORTS)


def test_two_threads_may_use_a_function_for_the_first_time(run):
    code = """
        import sys, threading
        import numpy as np
        from rankplug import list_metric
        from rankplug.metrics import MetricParameters
        sys.setswitchinterval(1e-6)
        failures = []
        barrier = threading.Barrier(4)

        @list_metric
        def first(ranked):
            return ranked[0]

        def use():
            barrier.wait()
            try:
                first.over_lists(np.ones(3), np.ones(3), np.array([0, 3]), MetricParameters())
            except BaseException as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=use) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(failures)
    """
    assert run(code) == "[]"


SESSION = """
    import warnings
    warnings.simplefilter("ignore")
    import functools
    import my_lib
    import numpy as np
    import pandas as pd
    import rankplug as rp
    from my_lib import Weights, helper
    from rankplug.registry import registry

    content = {content}

    class Scale:
        factor = content

        def apply(self, number):
            return self.factor * number

    VALUES = {{
        "partial": functools.partial(max, content),
        "class": Scale,
        "instance": Scale(),
        "series": pd.Series([content] * 3),
        "frame": pd.DataFrame({{"a": np.arange(2000.0) + content}}),
        "dictionary": {{"a": {{content}}}},
        "lambda": lambda x: content * x,
        "cached": functools.cache(lambda x: content * x),
    }}

    def by_import(scores, labels, mask):
        from my_lib import FACTOR
        return (scores * FACTOR).sum(1)

    def by_name(scores, labels, mask):
        return helper(scores).sum(1)

    def by_attribute(scores, labels, mask):
        return my_lib.helper(scores).sum(1)

    def by_class(scores, labels, mask):
        return (scores * Weights().total).sum(1)

    found = {{}}
    for function in (by_import, by_name, by_attribute, by_class):
        rp.loss(function)
        found[function.__name__] = registry().find("loss", function.__name__).version
    for name, value in VALUES.items():
        def loss(scores, labels, mask):
            value
            return scores.sum(1)
        rp.loss(name=name)(loss)
        found[name] = registry().find("loss", name).version
        del value
    print(found)
"""
LIBRARY = """
    from dataclasses import dataclass

    FACTOR = {factor}

    @dataclass
    class Weights:
        total: float = FACTOR

    def inner(scores):
        return FACTOR * scores

    def helper(scores):
        return inner(scores)
"""


def test_the_identity_of_a_session_loss_covers_what_it_uses(run, tmp_path):
    def versions(content: float, factor: float, hash_seed: int) -> dict[str, str]:
        (tmp_path / "my_lib.py").write_text(textwrap.dedent(LIBRARY).format(factor=factor))
        return eval(run(textwrap.dedent(SESSION).format(content=content), hash_seed))

    first = versions(1.0, 1.0, 0)
    assert versions(1.0, 1.0, 1) == first
    changed = versions(3.0, 3.0, 2)
    assert {name for name in first if changed[name] == first[name]} == set()


def test_tensors_and_networks_have_the_identity_of_their_content():
    import torch

    def digests(content: float) -> tuple[str | None, str | None]:
        torch.manual_seed(0)
        tensor, network = torch.arange(2000.0), torch.nn.Linear(40, 40)
        with torch.no_grad():
            tensor[1000] = network.weight[20, 20] = content

        def by_tensor(scores):
            return scores * tensor

        def by_network(scores):
            return network(scores)

        return digest_of(by_tensor), digest_of(by_network)

    first, again, other = digests(1.0), digests(1.0), digests(3.0)
    assert first == again and first[0] != other[0] and first[1] != other[1]


@pytest.mark.filterwarnings("ignore::rankplug.losses.SessionPluginWarning")
def test_content_that_has_no_digest_is_refused():
    import rankplug as rp
    from rankplug.errors import BrokenPluginError

    lock = threading.Lock()

    def guarded(scores, labels, mask):
        with lock:
            return scores.sum(1)

    with pytest.raises(BrokenPluginError, match=r"loss guarded uses a _thread\.lock"):
        rp.loss(guarded)


def test_universal_functions_of_numpy_have_an_identity():
    def exponentials(scores):
        return np.exp(scores).sum()

    def powers(scores):
        return np.exp2(scores).sum()

    assert digest_of(exponentials) == digest_of(exponentials) != digest_of(powers)
