r"""BoltzRank (Volkovs and Zemel 2009): expected NDCG under a Boltzmann law of rankings.

The energy of a ranking ``R`` with 0-based ranks ``r_i`` counts its disagreement with the scores,

.. math:: -E(R \mid f) = \frac{2}{n(n-1)} \sum_{u\,\text{above}\,v} (f_u - f_v)
          = \frac{2}{n(n-1)} \sum_i (n - 1 - 2 r_i) f_i,

and ``P(R) ~ exp(-E)`` over a set of rankings drawn around the labels (Plackett-Luce with weights ``e^y``), anew in each
iteration. With ``Q``, the law that the labels give in place of the scores, the loss is
``-expected_gain E_P[NDCG] - (1 - expected_gain) sum_R Q(R) log P(R)``. The paper's pairwise potentials belong to a
scorer and are left out. A list whose labels are all equal is silent.
"""

from __future__ import annotations

from rankplug.losses import padded_loss


@padded_loss(cost="pairs")
def boltzrank(scores, labels, mask, uniform, rankings, expected_gain, temperature):
    """Compute minus the expected NDCG, mixed with the cross entropy against the labels' own law."""
    import torch

    documents = mask.sum(1)
    noisy = labels - torch.log(-torch.log(uniform(rankings)))
    order = noisy.masked_fill(~mask, -torch.inf).argsort(dim=2, descending=True, stable=True)
    ranks = torch.empty_like(noisy)
    ranks.scatter_(2, order, torch.arange(noisy.shape[2], dtype=noisy.dtype).expand_as(noisy).contiguous())

    pairs = (documents * (documents - 1)).clamp(min=1)
    targets = 2 * (documents[:, None] - 1 - 2 * ranks) * mask / pairs[:, None]
    gains = (torch.exp2(labels) - 1) * mask
    discounts = 1 / torch.log2(2 + torch.arange(labels.shape[1], dtype=labels.dtype))
    ideal = (gains.sort(1, descending=True).values * discounts).sum(1)
    ndcg = (gains / torch.log2(2 + ranks)).sum(2) / ideal.clamp(min=torch.finfo(ideal.dtype).tiny)

    log_law = (targets * scores).sum(2).log_softmax(0)
    target = (targets * labels / temperature).sum(2).softmax(0)
    value = -expected_gain * (log_law.exp() * ndcg).sum(0) - (1 - expected_gain) * (target * log_law).sum(0)
    lowest = labels.masked_fill(~mask, torch.inf).min(1).values
    return torch.where(labels.max(1).values > lowest, value, 0 * value)
