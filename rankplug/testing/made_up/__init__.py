"""Results that nobody computed, for checks of claims."""
