"""Claim confidences -> response confidence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.core.aggregation import aggregate


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_min_and_product(confidences):
    assert aggregate(confidences, "min").value == min(confidences)
    assert aggregate(confidences, "product").value == pytest.approx(math.prod(confidences))


@pytest.mark.parametrize("how", ["min", "product"])
def test_no_claims_are_no_certainty(how):
    assert aggregate([], how).state == "missing"


@pytest.mark.parametrize("how", ["min", "product"])
def test_one_unreadable_claim_makes_the_whole_unreadable(how):
    assert aggregate([0.9, None, 0.8], how).state == "invalid"
