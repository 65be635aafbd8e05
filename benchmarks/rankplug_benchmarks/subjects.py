"""All subjects, in the order in which they are measured. Listing them imports none."""

from rankplug_benchmarks.harness.subjects import Subject

PACKAGE = "rankplug_benchmarks"

SUBJECTS = (
    Subject("losses", "gradients for boosting beside LightGBM's own", f"{PACKAGE}.gradients.losses:measure"),
    Subject(
        "padded", "losses of networks beside padded tensors, allRank and Rax", f"{PACKAGE}.gradients.padded:measure"
    ),
    Subject("scaling", "every loss's gradient by length and number of lists", f"{PACKAGE}.gradients.scaling:measure"),
    Subject("backends", "boosting iterations beside the engines' own objectives", f"{PACKAGE}.backends:measure"),
    Subject("threads", "all threads beside one, and a busy machine beside a quiet one", f"{PACKAGE}.threads:measure"),
    Subject("network", "a network's step on packed documents beside padded ones", f"{PACKAGE}.network:measure"),
    Subject("memory", "peak memory of training beyond the data", f"{PACKAGE}.memory:measure"),
    Subject("reading", "reading LETOR text and opening prepared data", f"{PACKAGE}.data_sets.reading:measure"),
    Subject("synthetic", "speed at which made data are made", f"{PACKAGE}.data_sets.synthetic:measure"),
    Subject("metrics", "NDCG of many queries beside other evaluators", f"{PACKAGE}.metrics:measure"),
    Subject(
        "serving",
        "prediction of few documents beside other ways to serve trees",
        f"{PACKAGE}.prediction.serving:measure",
    ),
    Subject("sweeps", "what a sweep costs beside training", f"{PACKAGE}.many_runs.sweeps:measure"),
    Subject("store", "questions to stores of 100 to 10,000 results", f"{PACKAGE}.many_runs.store_growth:measure"),
    Subject(
        "notebooks", "executing notebooks beside papermill's command line", f"{PACKAGE}.many_runs.notebooks:measure"
    ),
    Subject("quality", "held-out NDCG@10 for seconds and for trees", f"{PACKAGE}.quality:measure"),
    Subject("scale", "a set as large as MSLR-WEB30K", f"{PACKAGE}.scale:measure", by_default=False),
    Subject(
        "schedule",
        "core-hours of the papers, and sweeps on many workers",
        f"{PACKAGE}.many_runs.schedule:measure",
        False,
    ),
    Subject(
        "precision",
        "held-out NDCG of networks in bfloat16 beside full precision",
        f"{PACKAGE}.many_runs.precision:measure",
        False,
    ),
    Subject(
        "large_store",
        "questions to stores of 1,000 to 100,000 results",
        f"{PACKAGE}.many_runs.store_growth:measure_large",
        False,
    ),
)
