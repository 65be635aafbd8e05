"""Models in the formats of other programs, and compiled for this one."""
