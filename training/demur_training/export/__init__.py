"""A checkpoint -> a model folder that `demur serve` loads."""
