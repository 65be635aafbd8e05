"""The paper as a study: what it runs, its figures and tables, its claims."""

from __future__ import annotations

from rankplug.studies import Citation, Exhibit, Study, read_published
from rankplug_uniquerating.study import exhibits, theory
from rankplug_uniquerating.study.claims import CLAIMS, FINDINGS, OBSERVATIONS
from rankplug_uniquerating.study.protocol import COLOURS, PLACES, runs

study = Study(
    name="uniquerating",
    title="Listwise learning to rank by exploring unique ratings",
    citation=Citation(
        authors=("Xiaofeng Zhu", "Diego Klabjan"),
        title="Listwise learning to rank by exploring unique ratings",
        venue="WSDM",
        year=2020,
        published_in="Proceedings of the 13th ACM International Conference on Web Search and Data Mining",
        doi="10.1145/3336191.3371814",
    ),
    notebook="rankplug:notebooks/uniquerating.ipynb",
    colours=COLOURS,
    runs=runs,
    exhibits=(
        Exhibit("Table 1", "The collections", exhibits.table_1),
        *(
            Exhibit(
                table,
                f"NDCG and ERR on {collection}; LambdaLoss scores document by document",
                exhibits.table_of(collection),
                digits=3,
                caption="Test NDCG and ERR with half of the 95 % t interval over trials and folds; the best of ours is"
                " bold. Grey rows are published on other data than ours: a reference.",
            )
            for collection, table in PLACES.items()
        ),
        Exhibit("Table 6", "NDCG as LightGBM evaluates, chosen on the test part", exhibits.table_6, digits=3),
        Exhibit("Figure 1", "Gain of the paper's best model over the best benchmark", exhibits.draw_gains),
        Exhibit(
            "Table 2, test-selected",
            "OHSUMED, epoch selected on validation data and on the test part",
            exhibits.test_selected,
            digits=3,
        ),
        Exhibit("Tables 2-5, tests", "Tests of our models against the paper's reference", exhibits.significance),
        Exhibit("Tables 2-5, ERR", "ERR by both definitions", exhibits.err_by_definition),
        Exhibit("Section 2, example", "ListNet's and uRank's losses of the example", exhibits.example),
        Exhibit(
            "Choices",
            "What the text says it tried, on OHSUMED",
            exhibits.table_of_choices,
            digits=3,
            caption="Test NDCG of the paper's own choices first, then of what it chose among, with half of the 95 % t"
            " interval over trials and folds.",
        ),
        Exhibit("Section 6, sparsity", "Zeros among the features, and how far trees lead", exhibits.table_of_sparsity),
        Exhibit("Section 5, training time", "Time of an epoch", exhibits.draw_times),
        Exhibit(
            "Section 5, tensors and loops",
            "Time of uRank's loss in three forms",
            theory.draw_forms,
            caption="The loss of one list with its gradient, over the list's length: a loop over documents, the"
            " paper's Algorithm 1 on tensors, and rankplug's sums over sorted documents. Measured now on this machine;"
            " lines are means of repetitions, bands 95 % t intervals. Dashed: where the loop would be by the"
            " published factors.",
        ),
    ),
    claims=CLAIMS,
    published=lambda: read_published("rankplug_uniquerating.study"),
    findings=FINDINGS,
    observations=OBSERVATIONS,
)
