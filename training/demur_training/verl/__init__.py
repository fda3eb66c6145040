"""What plugs into verl: data set, reward manager, trainer, task runner, workers."""
