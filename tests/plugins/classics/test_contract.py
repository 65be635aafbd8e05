"""The contract of every classic loss, in each of its ways."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestMse(LossContract):
    loss = "mse"


class TestMseWithItsWholeDiagonal(LossContract):
    loss = "mse[curvature=diagonal]"
    longest = 300


class TestRankNet(LossContract):
    loss = "ranknet"


class TestRankNetOfLongLists(LossContract):
    loss = "ranknet[mean=true]"
    longest = 1_300


class TestRankNetOnAverage(LossContract):
    loss = "ranknet[sigma=2,mean=true]"


class TestRankSVM(LossContract):
    loss = "ranksvm"


class TestRankSVMSquared(LossContract):
    loss = "ranksvm[squared=true,margin=0.5]"


class TestRankSVMOfLongLists(LossContract):
    loss = "ranksvm"
    longest = 600


class TestRankBoost(LossContract):
    loss = "rankboost"


class TestRankBoostWithinEachList(LossContract):
    loss = "rankboost[pairs=list]"


class TestFidelity(LossContract):
    loss = "fidelity"


class TestFidelityOfAllPairs(LossContract):
    loss = "fidelity[mean=false]"


class TestAdaRank(LossContract):
    loss = "adarank"


class TestAdaRankByNdcg(LossContract):
    loss = "adarank[measure=ndcg,at=5,discount=jk]"


class TestListMLE(LossContract):
    loss = "listmle"


class TestListMLEStable(LossContract):
    loss = "listmle[ties=stable]"


class TestPositionAwareListMLE(LossContract):
    loss = "p_listmle"


class TestPositionAwareListMLERaw(LossContract):
    loss = "p_listmle[alpha=raw]"


class TestLambdaLoss(LossContract):
    loss = "lambdaloss"


class TestLambdaLoss2(LossContract):
    loss = "lambdaloss[variant=ndcg2,sigma=2]"


class TestLambdaLoss1(LossContract):
    loss = "lambdaloss[variant=ndcg1]"


class TestSvmMap(LossContract):
    loss = "svm_map"


class TestMDPRank(LossContract):
    loss = "mdprank"


class TestMDPRankDiscounted(LossContract):
    loss = "mdprank[episodes=3,discount=0.5]"


class TestSoftRank(LossContract):
    loss = "softrank"


class TestSoftRankCutOff(LossContract):
    loss = "softrank[sigma=0.3,k=5]"


class TestSoftSpearman(LossContract):
    loss = "soft_spearman"


class TestSoftSpearmanHarder(LossContract):
    loss = "soft_spearman[epsilon=0.1]"


class TestYetiRank(LossContract):
    loss = "yetirank"


class TestYetiRankReciprocal(LossContract):
    loss = "yetirank[position_weight=reciprocal,permutations=2]"


class TestBoltzRank(LossContract):
    loss = "boltzrank"


class TestBoltzRankWithEstimatedCurvature(LossContract):
    loss = "boltzrank[curvature=hutchinson,rankings=7]"
