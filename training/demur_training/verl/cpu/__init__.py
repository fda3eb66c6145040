"""verl's platform, and the patches it needs, for machines without a GPU."""
