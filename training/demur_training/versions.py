"""Which versions of verl this package was run against."""

from importlib.metadata import PackageNotFoundError, version

from demur_training.errors import EnvironmentProblem

TESTED_VERL = ("0.9.1",)


def installed(distribution: str) -> str | None:
    """The installed version of a distribution, None where it is absent."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def require_tested_verl(found: str | None) -> None:
    """Raise EnvironmentProblem unless `found` is a version of verl that was run end to end.

    Our trainer, reward manager and CPU platform lean on verl's internals; another version may load and then train
    something else.
    """
    wanted = " or ".join(TESTED_VERL)
    if found is None:
        raise EnvironmentProblem(f"verl is not installed: pip install 'demur-training[cpu]' (wants verl {wanted})")
    if found not in TESTED_VERL:
        raise EnvironmentProblem(f"verl {found} was never tried with this version of demur: install verl=={wanted}")
