"""Pages made from the plugins themselves; ``python -m rankplug_documentation docs`` writes them."""
