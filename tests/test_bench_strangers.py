"""A stranger's question is answered rightly by the wanted words, and not by words or numbers that hold them."""

import pytest
from bench.strangers import is_right


@pytest.mark.parametrize(
    ("answer", "wanted", "right"),
    [
        ("4", "4", True),
        ("It is 4.", "4", True),
        ("14", "4", False),
        ("4.5", "4", False),
        ("-4", "4", False),
        ("0.75", "3/4", True),
        ("13/4", "3/4", False),
        ("Paris, France", "Paris", True),
        ("Yes, it is", "yes", True),
        ("9.9 is larger", "9.9", True),
        ("19.9", "9.9", False),
        ("William Shakespeare", "Shakespeare", True),
        ("", "4", False),
    ],
)
def test_what_is_right(answer, wanted, right) -> None:
    assert is_right(answer, wanted) is right
