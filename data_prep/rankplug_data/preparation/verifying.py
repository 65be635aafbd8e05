"""Verification of prepared data, which are read again: what is wrong with them."""

from __future__ import annotations

import numpy as np

from rankplug.errors import DataError
from rankplug_data.preparation.storing import PreparedData


def problems_of(prepared: PreparedData) -> list[str]:
    """Return a sentence for each damage: digests that no longer fit, and queries that two parts of a fold share."""
    problems = []
    for fold in prepared.folds:
        try:
            parts = prepared.parts(fold)
        except DataError as error:
            return [str(error)]
        seen: dict[int, str] = {}
        for name, part in parts.items():
            expected = part.fingerprint
            del part.__dict__["fingerprint"]
            if part.fingerprint != expected:
                problems.append(
                    f"fold {fold} {name}: the arrays have changed; remove {prepared.folder} to prepare anew"
                )
            shared = [query for query in np.unique(part.query_ids).tolist() if seen.setdefault(query, name) != name]
            if shared:
                problems.append(
                    f"fold {fold}: query {shared[0]} is in {seen[shared[0]]} and in {name} ({len(shared)} such)"
                )
    return problems
