"""The paper as a study: what it runs, its figures and tables, its claims."""

from __future__ import annotations

from rankplug.studies import Citation, Exhibit, Study, read_published
from rankplug_stochastic.study import claims, exhibits, losses, noise
from rankplug_stochastic.study.claims import FINDINGS
from rankplug_stochastic.study.protocol import COLOURS, runs

IN_TRAINING = (
    "NDCG@5 over the course of training, without noise and with it: dashed on training data, solid on validation data."
    " A line is the mean over the trials, its band a 95 % t interval."
)

study = Study(
    name="stochastic",
    title="A stochastic treatment of learning to rank scoring functions",
    citation=Citation(
        authors=("Sebastian Bruch", "Shuguang Han", "Michael Bendersky", "Marc Najork"),
        title="A stochastic treatment of learning to rank scoring functions",
        venue="WSDM",
        year=2020,
        published_in="Proceedings of the 13th ACM International Conference on Web Search and Data Mining",
        doi="10.1145/3336191.3371844",
    ),
    notebook="rankplug:notebooks/stochastic.ipynb",
    colours=COLOURS,
    runs=runs,
    exhibits=(
        Exhibit("Figure 1", "Concrete densities on three documents, sampled and in closed form", noise.draw_densities),
        Exhibit("Figure 2", "Noise on the scores is noise in the sigmoids", losses.draw_ranks),
        Exhibit("Margins", "How strongly a pair is pushed apart, with noise and without", losses.draw_margins),
        Exhibit("Law of Z", "Differences of Gumbel noise beside the logistic law", noise.draw_differences),
        Exhibit("Equations 9 to 14", "CrossEntropy under noise, and the bound on it", losses.draw_bound),
        Exhibit("Figure 3a", "Training with the same settings, CrossEntropy", exhibits.figure_3("CrossEntropy")),
        Exhibit(
            "Figure 3b",
            "Training with the same settings, ApproxNDCG",
            exhibits.figure_3("ApproxNDCG"),
            caption=IN_TRAINING,
        ),
        Exhibit(
            "Figure 3c",
            "Training with the same settings, lambdaMART",
            exhibits.figure_3("lambdaMART"),
            caption=IN_TRAINING,
        ),
        Exhibit("Figure 3, Yahoo", "Training with the same settings on Yahoo", exhibits.figure_3_on_yahoo),
        Exhibit(
            "Figure 4",
            "Validation quality in training, each model with settings of its own",
            exhibits.figure_4,
            caption="Networks over steps, trees over their number. A line is the mean over the trials, its band a 95 %"
            " t interval.",
        ),
        Exhibit("Table 1", "Test quality, each model with settings of its own (B)", exhibits.table_1("tuned")),
        Exhibit("Section 6.1", "Sizes of the data", exhibits.data),
        Exhibit("Table 1, fixed", "Test quality, the same settings for all (A)", exhibits.table_1("fixed")),
        Exhibit(
            "Noise and network",
            "What noise gives and what the network gives",
            exhibits.table_of_noise_and_network,
            caption="The paper's setting B changes noise, network and optimiser at once. Here each is added alone: what"
            " it gives in points of test NDCG@5, with its 95 % interval.",
        ),
        Exhibit("Four models", "Every loss with every network, equally tuned", exhibits.four_models),
        Exhibit("Mentioned", "ListMLE, RankNet, a longer training, and dropout elsewhere", exhibits.table_of_mentioned),
        Exhibit("Kinds of noise", "Scale, draws and law of the noise of E[ApproxNDCG]", exhibits.draw_kinds_of_noise),
        Exhibit(
            "Perturbed scores", "What noise on test scores takes from trained models", exhibits.draw_perturbed_scores
        ),
        Exhibit("Variance", "Variance of a draw's gradient over its squared mean", noise.table),
        Exhibit(
            "Variance and draws",
            "The same over the number of draws",
            noise.draw_over_draws,
            caption="Each gradient is the average of $N$ draws, of which the paper takes eight: a fall by half from"
            " mark to mark is a variance that goes with $1/N$. Above the grey line noise outweighs the gradient.",
        ),
    ),
    claims=claims.CLAIMS,
    published=lambda: read_published("rankplug_stochastic.study"),
    findings=FINDINGS,
)
