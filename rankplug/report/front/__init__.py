"""The front page of a report: what was found, in numbers and words."""
