"""The study of the paper: numbers of its exhibits, from one smoke run."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_stochastic.study import exhibits, protocol
from rankplug_stochastic.study.exhibits import METRIC

import rankplug as rp

pytestmark = pytest.mark.xdist_group("draw stochastic")
STUDY = rp.study("stochastic")
FIXED, TUNED = f"fixed {protocol.WEB30K}", f"tuned {protocol.WEB30K}"


def test_what_both_changes_give_is_the_sum_of_what_each_gives(results):
    table, _ = STUDY.exhibit("Noise and network").draw(results)
    for _, rows in table.groupby("loss"):
        gains = rows.set_index("what is added")["gain"]
        network, noise, both = (gains[name] for name in (gains.index[2], gains.index[1], gains.index[4]))
        assert both == pytest.approx(network + noise)
    quality = STUDY.exhibit("Four models").draw(results)[0].set_index(["loss", "network"])["ours"]
    own = table[table["loss"] == "ApproxNDCG"].set_index("what is added")["gain"]
    assert own["noise, with A"] == pytest.approx(quality["E[ApproxNDCG]", "A"] - quality["ApproxNDCG", "A"])


def test_noise_on_scores_takes_what_scores_with_noise_lack(results):
    frame, figure = STUDY.exhibit("Perturbed scores").draw(results)
    assert len(frame) == len(protocol.MODELS) * 2 * len(exhibits.SIZES) and len(figure.axes) == 6
    (first, *_) = results.rankings(FIXED, "lambdaMART")
    run = first["lambdaMART"]
    assert run.trial.number == 0
    kept = results.by_query(FIXED, METRIC)["lambdaMART"].loc[0, 1]
    assert exhibits.quality(run) == pytest.approx(kept[[str(name) for name in run.lists.query_ids]].to_numpy())
    # Noise that outweighs all scores leaves the order of noise alone, for any model.
    draws = np.random.default_rng([0, 1]).normal(size=(exhibits.NOISY_RANKINGS, run.scores.size))
    alone = np.mean([rp.evaluate(noise, run.lists, METRIC).to_numpy() for noise in draws], axis=0)
    assert exhibits.quality(run, 1e9 * draws) == pytest.approx(alone)
    centred = np.concatenate([one - one.mean() for one in np.split(run.scores, run.lists.starts[1:-1])])
    assert exhibits.spread(run) == pytest.approx(np.sqrt(np.mean(centred**2)))


def test_table_1_has_the_papers_thirty_numbers_beside_ours(results):
    table, _ = STUDY.exhibit("Table 1").draw(results)
    assert len(table) == 30 and table[["ours", "half width", "published"]].notna().all(axis=None)
    assert table["difference"].isna().all()  # On made data the published numbers are no yardstick.
    row = table[(table["model"] == "E[ApproxNDCG]") & (table["metric"] == "ndcg@5")].set_index("published on")
    assert row["published"].to_dict() == {protocol.WEB30K: 47.48, protocol.YAHOO: 72.69}
    trials = results.trials(TUNED, "ndcg@5")["E[ApproxNDCG]"]
    assert row.loc[protocol.WEB30K, "ours"] == pytest.approx(100 * trials.mean())


def test_every_claim_is_judged(results):
    for claim in STUDY.claims:
        assert claim.judge(results).sentence
        assert not claim.exhibit or STUDY.exhibit(claim.exhibit)


def test_nothing_is_run_twice(results):
    identities = [record["identity"] + str(record["trial"]) for record in results.records]
    # 6 models, 2 of which have settings of their own; 4 and 1 on the second collection; two plain losses with the
    # network of setting B; nine kinds of noise beside the paper's; four models it only mentions; two trials.
    assert len(identities) == len(set(identities)) == 2 * (8 + 5 + 2 + 9 + 4)
