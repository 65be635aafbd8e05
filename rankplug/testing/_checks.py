"""Checks, of which contracts consist: each reports what is wrong, what that means and how to fix it.

A check is a claim about a plugin on an input, which returns a complaint or ``None``::

    CONTRACT = Contract(Case)

    @CONTRACT.check(inputs=lists_of(5, 3), means="means are wrong", fix="return nan where the metric is undefined")
    def values_are_finite(case, lists):
        ...

The tests that an author inherits and ``rankplug check`` run the same checks. Those of a later stage rest on those of an
earlier one, and are not tried where one of these fails: a loss that gives nan breaks nearly every other promise too.
"""
# ruff: noqa: NPY002

from __future__ import annotations

import contextlib
import functools
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import RankplugError

if TYPE_CHECKING:
    import pytest

Floats = NDArray[np.float64]
TRIES, SECONDS = 500, 5.0
"""Limits of the search for a smaller input."""
LONGEST_INPUT, LONGEST_MESSAGE = 2000, 400
LAST = 9
"""Stage of most checks."""
CORE = Path(__file__).parents[1]


@dataclass(frozen=True, eq=False)
class CheckInput:
    """Scores and labels of some lists."""

    scores: Floats
    labels: Floats
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, scores: ArrayLike, labels: ArrayLike | None = None, starts: ArrayLike | None = None) -> CheckInput:
        """Make an input from plain numbers; one list if no starts are given, labels 0 if none are."""
        packed = np.asarray(scores, np.float64)
        relevance = np.zeros(packed.size) if labels is None else np.asarray(labels, np.float64)
        return cls(packed, relevance, np.asarray([0, packed.size] if starts is None else starts, np.int64))

    def __str__(self) -> str:
        text = ", ".join(f"{name}={values}" for name, values in self.describe().items())
        return text if len(text) <= LONGEST_INPUT else f"{len(self.starts) - 1} lists, {self.scores.size} documents"

    def describe(self) -> dict[str, list[Any]]:
        """Return the input as plain numbers, whole ones without a point."""
        return {name: [_plain(value) for value in array] for name, array in vars(self).items()}

    def slices(self) -> Iterator[slice]:
        """Yield the documents of each list."""
        return (slice(first, last) for first, last in zip(self.starts, self.starts[1:], strict=False))

    def without(self, first: int, last: int) -> CheckInput:
        """Return the input without some documents; a list that loses all of them is gone."""
        keep = np.ones(self.scores.size, np.bool_)
        keep[first:last] = False
        lengths = np.add.reduceat(keep, self.starts[:-1])
        starts = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
        return CheckInput(self.scores[keep], self.labels[keep], starts)

    def smaller(self) -> Iterator[CheckInput]:
        """Yield inputs that are a little simpler: fewer documents, rounder numbers."""
        size = self.scores.size
        chunk = size // 2
        while chunk >= 1:
            yield from (self.without(first, first + chunk) for first in range(0, size, chunk))
            chunk //= 2
        levels = np.unique(self.labels)
        for labels in (np.minimum(self.labels, 1.0), np.searchsorted(levels, self.labels).astype(float)):
            if labels.sum() < self.labels.sum():
                yield replace(self, labels=labels)
        for digits in (1, 2):
            # Different scores stay different: at ties many losses have no derivative.
            rounded = self.scores.round(digits) + 0.0
            if (rounded != self.scores).any() and np.unique(rounded).size == np.unique(self.scores).size:
                yield replace(self, scores=rounded)


def _plain(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def smallest(lists: CheckInput, fails: Callable[[CheckInput], bool]) -> CheckInput:
    """Return a simpler input that still fails, by leaving things out as long as it does."""
    tries, end = TRIES, time.perf_counter() + SECONDS
    improved = True
    while improved:
        improved = False
        for candidate in lists.smaller():
            tries -= 1
            if tries < 0 or time.perf_counter() > end:
                return lists
            if candidate.scores.size and fails(candidate):
                lists, improved = candidate, True
                break
    return lists


@dataclass(frozen=True)
class Case:
    """A plugin under test.

    Args:
        name: name of the plugin with its parameters.
        seed: random seed of the inputs.
    """

    name: str
    seed: int = 20

    def __str__(self) -> str:
        return self.name

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        """Return labels of a list of the input."""
        return np.zeros(documents)

    def lists(self, *lengths: int) -> CheckInput:
        """Make lists of some lengths with scores that differ."""
        generator = np.random.default_rng(self.seed)
        labels = np.concatenate([self.labels(length, generator) for length in lengths])
        starts = np.concatenate(([0], np.cumsum(lengths)))
        return CheckInput(generator.normal(size=labels.size), labels, starts)


Inputs = Callable[[Any], Iterable[CheckInput]]
Claim = Callable[..., str | None]
Status = Literal["ok", "failed", "not applicable", "not tried"]


def lists_of(*lengths: int) -> Inputs:
    """Return what makes one input, of lists of some lengths."""
    return lambda case: [case.lists(*lengths)]


@dataclass(frozen=True)
class Finding:
    """Result of a check.

    Args:
        plugin: name of the plugin with its parameters.
        check: name of the check.
        status: outcome.
        what: complaint, or the reason why the check does not apply.
        given: the smallest input found that shows a failure.
        means: consequence for training or for results.
        fix: remedy for the author.
        snippet: Python code that shows the failure again.
    """

    plugin: str
    check: str
    status: Status
    what: str = ""
    given: CheckInput | None = None
    means: str = ""
    fix: str = ""
    snippet: str = ""

    @property
    def failed(self) -> bool:
        """Whether the contract is broken."""
        return self.status == "failed"

    def describe(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {**asdict(replace(self, given=None)), "given": None if self.given is None else self.given.describe()}


class ContractError(AssertionError):
    """A broken contract: what is wrong, on which input, and what it means."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        origin = f", on {finding.given}" if finding.given is not None else ""
        super().__init__(f"{finding.plugin}: {finding.what}{origin}; {finding.means}; {finding.fix}")


class NotApplicableError(Exception):
    """The reason why a check does not apply to a plugin."""


class Check:
    """One promise of a contract; called with a case, it raises :class:`ContractError` where it is broken.

    Args:
        contract: contract to which the check belongs.
        claim: function of a case, and an input if there are any, that returns a complaint or ``None``.
        inputs: function from a case to the inputs on which the claim must hold.
        means: consequence of a failure for training or for results.
        fix: remedy for the author.
        stage: number of the stage; checks of later stages rest on it.
    """

    def __init__(
        self, contract: Contract, claim: Claim, inputs: Inputs | None, means: str, fix: str, stage: int
    ) -> None:
        self.contract, self.claim, self.inputs = contract, claim, inputs
        self.means, self.fix, self.stage = means, fix, stage
        self.__name__, self.__doc__ = claim.__name__, claim.__doc__

    def __repr__(self) -> str:
        return f"<check {self.__name__}>"

    def __call__(self, case: Any) -> None:
        finding = self.finding(case)
        if finding.failed:
            raise ContractError(finding)

    def on(
        self,
        plugin: str,
        scores: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        starts: ArrayLike | None = None,
    ) -> None:
        """Check the claim on one input, which is not made smaller; raise :class:`ContractError` if it fails."""
        case = self.contract.case(plugin)
        lists = None if scores is None else CheckInput.of(scores, labels, starts)
        if (what := self._complaint(case, lists)) is not None:
            raise ContractError(self._failure(case, what, lists))

    def finding(self, case: Any) -> Finding:
        """Check the claim on all inputs; a failure comes with the smallest input that shows it."""
        try:
            for lists in self.inputs(case) if self.inputs else [None]:
                if (what := self._complaint(case, lists)) is None:
                    continue
                if lists is not None:
                    lists = smallest(lists, lambda smaller: self._complaint(case, smaller) is not None)
                    what = self._complaint(case, lists) or what
                return self._failure(case, what, lists)
        except NotApplicableError as reason:
            return Finding(str(case), self.__name__, "not applicable", str(reason))
        return Finding(str(case), self.__name__, "ok")

    def _failure(self, case: Any, what: str, lists: CheckInput | None) -> Finding:
        """Return the finding of a failure, with Python code that shows it again."""
        module = self.claim.__module__.rpartition(".")[2]
        lines, arguments = [f"from rankplug.testing import {module}"], [repr(str(case))]
        if lists is not None:
            lines += [f"{name} = {values}" for name, values in lists.describe().items()]
            arguments += lists.describe()
            lines = ["import rankplug as rp", *lines, f"print({self.contract.call.format(name=str(case))})"]
        snippet = "\n".join([*lines, f"{module}.{self.__name__}.on({', '.join(arguments)})"])
        return Finding(str(case), self.__name__, "failed", what, lists, self.means, self.fix, snippet)

    def _complaint(self, case: Any, lists: CheckInput | None) -> str | None:
        try:
            with np.errstate(all="ignore"):
                return self.claim(case) if lists is None else self.claim(case, lists)
        except NotApplicableError:
            raise
        except Exception as error:
            return described(error)


class Contract:
    """The checks of one kind of plugin.

    Args:
        case: function from a plugin's name to the case under test.
        call: Python code, with ``{name}`` in it, by which an author calls the plugin on an input.
    """

    def __init__(self, case: Callable[..., Any], call: str = "") -> None:
        self.case, self.call = case, call
        self.checks: list[Check] = []

    def check(
        self, *, means: str, fix: str, inputs: Inputs | None = None, stage: int = LAST
    ) -> Callable[[Claim], Check]:
        """Make a check of a claim; a decorator."""

        def decorate(claim: Claim) -> Check:
            self.checks.append(Check(self, claim, inputs, means, fix, stage))
            return self.checks[-1]

        return decorate

    def findings(self, case: Any) -> Iterator[Finding]:
        """Yield the finding of every check; those that rest on a failed one are not tried."""
        failed: Check | None = None
        for check in sorted(self.checks, key=lambda check: check.stage):
            if failed is not None and check.stage > failed.stage:
                yield Finding(str(case), check.__name__, "not tried", f"it rests on {failed.__name__}")
                continue
            finding = check.finding(case)
            if finding.failed and failed is None:
                failed = check
            yield finding


class PluginContract:
    """Tests that run a contract's checks on the plugin that a subclass names under its kind.

    Other class attributes with the name of a field of the contract's case set that field.
    """

    contract: ClassVar[Contract]
    kind: ClassVar[str]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one test of each check."""
        if "check" in metafunc.fixturenames:
            metafunc.parametrize("check", self.contract.checks, ids=lambda check: check.__name__)

    @classmethod
    @functools.cache
    def case(cls) -> Any:
        """Return the plugin under test, the same for all checks, so that what they share is fitted once."""
        names = [field.name for field in fields(cls.contract.case) if hasattr(cls, field.name)]  # type: ignore[arg-type]
        return cls.contract.case(getattr(cls, cls.kind), **{name: getattr(cls, name) for name in names})

    def test_contract(self, check: Check) -> None:
        """One promise of the contract."""
        check(self.case())


def described(error: BaseException) -> str:
    """Describe an error of a plugin in one line, with the place in the plugin where it was raised."""
    message = " ".join(str(error).split())
    message = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if CORE not in Path(frame.filename).parents]
    known = isinstance(error, RankplugError) or not frames
    return f"it raises {type(error).__name__}: {message}" + (
        "" if known else f" at {frames[-1].filename}, line {frames[-1].lineno}"
    )


def moves_global_random_state(action: Callable[[], object]) -> bool:
    """Return whether an action changes the global generators of Python, NumPy or, if it is loaded, PyTorch."""
    before = _global_random_state()
    action()
    return before != _global_random_state()


def _global_random_state() -> tuple[Any, ...]:
    torch = sys.modules.get("torch")
    numpy: Any = np.random.get_state()
    of_torch = b"" if torch is None else torch.random.get_rng_state().numpy().tobytes()
    return random.getstate(), numpy[1].tobytes(), numpy[2], of_torch


@contextlib.contextmanager
def other_global_random_numbers() -> Iterator[None]:
    """Seed the global generators otherwise in the block, and restore them."""
    states = random.getstate(), np.random.get_state()
    random.seed(1234)
    np.random.seed(1234)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
