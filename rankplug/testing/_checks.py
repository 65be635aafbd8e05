"""Checks, of which contracts consist: each says what it found, what that means and how to put it right.

A check is written as a claim about a plugin on an input, which answers with a complaint or with nothing::

    CONTRACT = Contract("metric", Case)

    @CONTRACT.check(inputs=..., means="means are wrong", fix="return nan where the metric is undefined")
    def values_are_finite(case, given):
        ...

The tests an author inherits and ``rankplug check`` run the same checks. Those of a later stage rest on those of an
earlier one, and are not tried where one of these fails: a loss that gives nan breaks nearly every other promise too.
"""
# ruff: noqa: NPY002

from __future__ import annotations

import contextlib
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import RankplugError

Floats = NDArray[np.float64]
TRIES, SECONDS = 500, 5.0
LONGEST_SHOWN = 2000


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
        shown = ", ".join(f"{name}={values}" for name, values in self.describe().items())
        return shown if len(shown) <= LONGEST_SHOWN else f"{len(self.starts) - 1} lists, {self.scores.size} documents"

    def describe(self) -> dict[str, list[Any]]:
        """Return the input as plain numbers, whole ones without a point."""
        return {name: [_plain(value) for value in getattr(self, name)] for name in ("scores", "labels", "starts")}

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
            yield from (self.without(first, min(first + chunk, size)) for first in range(0, size, chunk))
            chunk //= 2
        levels = np.unique(self.labels)
        for labels in (np.minimum(self.labels, 1.0), np.searchsorted(levels, self.labels).astype(float)):
            if labels.sum() < self.labels.sum():
                yield CheckInput(self.scores, labels, self.starts)
        for digits in (1, 2):
            # Scores that are told apart stay so: at ties many losses have no derivative.
            rounded = self.scores.round(digits) + 0.0
            if (rounded != self.scores).any() and np.unique(rounded).size == np.unique(self.scores).size:
                yield CheckInput(rounded, self.labels, self.starts)


def smallest(given: CheckInput, fails: Callable[[CheckInput], bool]) -> CheckInput:
    """Return a simpler input that still fails, found by leaving things out as long as it does."""
    tries, end = TRIES, time.perf_counter() + SECONDS
    improved = True
    while improved:
        improved = False
        for candidate in given.smaller():
            tries -= 1
            if tries < 0 or time.perf_counter() > end:
                return given
            if candidate.scores.size and fails(candidate):
                given, improved = candidate, True
                break
    return given


def _plain(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


Claim = Callable[..., str | None]
Status = Literal["ok", "failed", "not applicable", "not tried"]
LAST = 9
CORE = Path(__file__).parents[1]
LONGEST_MESSAGE = 400


class ContractError(AssertionError):
    """A contract that is not kept: what, on which input, and what it means."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        origin = f", on {finding.given}" if finding.given is not None else ""
        super().__init__(f"{finding.plugin}: {finding.what}{origin}; {finding.means}; {finding.fix}")


class NotApplicableError(Exception):
    """A check that says nothing about this plugin, and why."""


@dataclass(frozen=True)
class Finding:
    """Result of a check.

    Args:
        plugin: with its parameters.
        check: its name.
        status: how it went.
        what: is wrong, or why the check does not apply.
        given: the smallest input found that shows it.
        means: for training or for results.
        fix: what the author can do.
        snippet: Python that shows it again.
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
        """Tell whether the contract is broken."""
        return self.status == "failed"

    def describe(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        given = None if self.given is None else self.given.describe()
        return {**asdict(replace(self, given=None)), "given": given}


class Check:
    """One promise of a contract; called with a case, it raises :class:`ContractError` where it is broken.

    Args:
        contract: it is part of.
        claim: about a case, and an input if there are any; answers with what is wrong.
        inputs: on which it must hold, from the case.
        means: what a failure means for training or for results.
        fix: what the author can do.
        stage: those of later stages rest on it.
    """

    def __init__(
        self,
        contract: Contract,
        claim: Claim,
        inputs: Callable[[Any], Iterable[CheckInput]] | None,
        means: str,
        fix: str,
        stage: int = LAST,
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
        """Check the claim on one input, as it is; raise :class:`ContractError` if it does not hold."""
        case = self.contract.case(plugin)
        given = None if scores is None else CheckInput.of(scores, labels, starts)
        if (what := self._complaint(case, given)) is not None:
            raise ContractError(self._failure(case, what, given))

    def finding(self, case: Any) -> Finding:
        """Check the claim on all inputs; a failure comes with the smallest input that shows it."""
        try:
            for given in self.inputs(case) if self.inputs else [None]:
                if (what := self._complaint(case, given)) is None:
                    continue
                if given is not None:
                    given = smallest(given, lambda smaller: self._complaint(case, smaller) is not None)
                    what = self._complaint(case, given) or what
                return self._failure(case, what, given)
        except NotApplicableError as reason:
            return Finding(str(case), self.__name__, "not applicable", str(reason))
        return Finding(str(case), self.__name__, "ok")

    def _failure(self, case: Any, what: str, given: CheckInput | None) -> Finding:
        snippet = self.contract.snippet(self, str(case), given)
        return Finding(str(case), self.__name__, "failed", what, given, self.means, self.fix, snippet)

    def _complaint(self, case: Any, given: CheckInput | None) -> str | None:
        try:
            with np.errstate(all="ignore"):
                return self.claim(case) if given is None else self.claim(case, given)
        except NotApplicableError:
            raise
        except Exception as error:
            return described(error)


class Contract:
    """The checks of one kind of plugin.

    Args:
        kind: such as ``loss``.
        case: makes a plugin under test of its name.
        call: how its author would call it, as Python for a snippet, with ``{name}`` in it.
    """

    def __init__(self, kind: str, case: Callable[[str], Any], call: str = "") -> None:
        self.kind, self.case, self.call = kind, case, call
        self.checks: list[Check] = []

    def check(
        self, *, means: str, fix: str, inputs: Callable[[Any], Iterable[CheckInput]] | None = None, stage: int = LAST
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

    def snippet(self, check: Check, plugin: str, given: CheckInput | None) -> str:
        """Return Python code that shows a failure again."""
        module = check.claim.__module__.rpartition(".")[2]
        lines, arguments = [f"from rankplug.testing import {module}"], [repr(plugin)]
        if given is not None:
            lines += [f"{name} = {values}" for name, values in given.describe().items()]
            arguments += ["scores", "labels", "starts"]
            if self.call:
                lines = ["import rankplug as rp", *lines, f"print({self.call.format(name=plugin)})"]
        return "\n".join([*lines, f"{module}.{check.__name__}.on({', '.join(arguments)})"])


def described(error: BaseException) -> str:
    """Describe an error of a plugin in one line, with the place in the plugin where it was raised."""
    message = " ".join(str(error).split())
    message = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
    if isinstance(error, RankplugError):
        return f"it raises {type(error).__name__}: {message}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if CORE not in Path(frame.filename).parents]
    location = f" at {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    return f"it raises {type(error).__name__}: {message}{location}"


def global_random_state() -> tuple[Any, ...]:
    """Return the states of Python's, NumPy's and, if it is loaded, PyTorch's global generators."""
    torch = sys.modules.get("torch")
    drawn: Any = np.random.get_state()
    return (
        random.getstate(),
        drawn[1].tobytes(),
        drawn[2],
        b"" if torch is None else torch.random.get_rng_state().numpy().tobytes(),
    )


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
