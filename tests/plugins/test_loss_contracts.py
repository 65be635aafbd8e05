"""Every loss keeps the contract, in one configuration, and a few in one that takes another way through their code."""

from __future__ import annotations

import pytest

from rankplug.testing import LossContract, TransformContract

LOSSES = [
    "adarank[measure=ndcg,at=5,discount=jk]",
    "approx_ndcg",
    "boltzrank",
    "convex_loss",
    "cross_entropy",
    "exp_gain",
    "fidelity",
    "lambdagap[k=3,beside=arp,sigma=2,norm=true]",
    "lambdaloss",
    "lambdarank[norm=true,truncation=5]",
    "listmle",
    "listnet",
    "logrank_exponential",
    "logrank_l2",
    "logrank_l3[divide_by_pairs=true]",
    "logrank_mle",
    "mdprank[episodes=3,discount=0.5]",
    "mse",
    "neural_ndcg[k=3,temperature=0.5,scalings=5]",
    "neural_sort",
    "p_listmle",
    "pirank",
    "pl_rank[version=2,k=3]",
    "rankboost",
    "ranknet[sigma=2,mean=true]",
    "ranksvm[squared=true,margin=0.5]",
    "soft_spearman",
    "softrank[sigma=0.3,k=5]",
    "stochastic_rank[sigma=0.5,samples=3,k=2]",
    "svm_map",
    "umart[window=none,hessian=true,normalise=false,idcg_at=5]",
    "urank[window=3]",
    "xe_ndcg",
    "yetiloss[metric=err]",
    "yetirank[position_weight=reciprocal,permutations=2]",
]
OTHER_WAYS = ["exp_gain[gain=map,samples=10]", "boltzrank[curvature=hutchinson,rankings=7]"]
UNDER_NOISE = {
    "extreme_scores_give_finite_results",
    "gradient_holds_under_noise",
    "noise_is_repeated_by_seed_and_iteration",
    "threads_do_not_change_results",
}
"""Checks that compile a loss again, for its average over a sampler's noise; slow but for a few losses."""
FAST_UNDER_NOISE = ("approx_ndcg", "cross_entropy", "lambdarank[norm=true,truncation=5]", "neural_sort")


class Contract(LossContract):
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "check" in metafunc.fixturenames:
            slow = UNDER_NOISE if self.loss not in FAST_UNDER_NOISE else set[str]()
            checks = {check.__name__: check for check in self.contract.checks}
            marked = [pytest.param(check, marks=[pytest.mark.slow] * (name in slow)) for name, check in checks.items()]
            metafunc.parametrize("check", marked, ids=checks)


for _loss in LOSSES + OTHER_WAYS:
    _differences = {"longest": 600} if _loss.startswith("ranksvm") else {}
    globals()[f"Test_{_loss}"] = type(
        f"Test_{_loss}", (Contract,), {"loss": _loss, "__module__": __name__, **_differences}
    )


class TestSparseFeatures(TransformContract):
    transform = "sparse_features[share=0.6]"


def test_every_loss_is_listed():
    from rankplug.registry import registry

    listed = {loss.partition("[")[0] for loss in LOSSES}
    own = {plugin.specification.name for plugin in registry().plugins("loss") if plugin.distribution == "rankplug"}
    assert listed == own
