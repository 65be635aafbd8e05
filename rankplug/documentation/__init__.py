"""Pages made from the plugins themselves; ``python -m rankplug.documentation docs`` writes them."""
