"""Class proportions of an unlabelled sample."""
