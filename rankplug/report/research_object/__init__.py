"""A reproduction in the form in which repositories and reviewers take it."""
