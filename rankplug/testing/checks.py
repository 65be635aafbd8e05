"""Checks, of which contracts consist: each says what it found, what that means and how to put it right.

A check is written as a claim about a plugin on an input, which answers with a complaint or with nothing::

    CONTRACT = Contract("metric", Case)

    @CONTRACT.check(inputs=..., means="means are wrong", fix="return nan where the metric is undefined")
    def values_are_finite(case, given):
        ...

The tests an author inherits and ``rankplug check`` run the same checks. Those of a later stage rest on those of an
earlier one, and are not tried where one of these fails: a loss that gives nan breaks nearly every other promise too.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankplug.errors import RankplugError
from rankplug.testing.check_input import CheckInput, smallest

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
