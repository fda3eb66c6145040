"""What can be wrong before a run starts, each said in one line.

TrainingError
├── RecipeError        an unknown recipe, scale or key, or a configuration verl refuses
├── DataError          questions or answers are missing, or no row is left
├── ModelError         the base model cannot be trained on this data: no chat template, prompts too long
├── CheckpointError    a checkpoint is missing, half written or of another shape
└── EnvironmentProblem a package is missing or of a version nobody tried
"""


class TrainingError(Exception):
    """Anything the user can put right; the command line prints it without a traceback."""


class RecipeError(TrainingError):
    """The recipe, the scale or an override does not exist or does not fit."""


class DataError(TrainingError):
    """The questions cannot be used."""


class ModelError(TrainingError):
    """The base model does not fit the recipe."""


class CheckpointError(TrainingError):
    """The checkpoint cannot be resumed or exported."""


class EnvironmentProblem(TrainingError):
    """Something in the environment is missing or untested."""
