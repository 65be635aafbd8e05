"""Questions to the results: tables, groups with intervals, comparisons, figures and tables for papers."""
