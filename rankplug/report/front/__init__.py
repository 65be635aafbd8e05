"""The front page of a report: what was found in numbers, and all claims in one forest plot."""
