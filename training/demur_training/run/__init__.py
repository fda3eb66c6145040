"""Starting a run, its checkpoints, its metrics and their curves."""
