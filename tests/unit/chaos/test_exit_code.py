"""Tests of the exit code of `python -m tests.chaos`."""

import pytest

from tests.chaos.__main__ import code_of
from tests.chaos.faults import Fault
from tests.chaos.table import Outcome

FAULT = Fault("the cable is cut", "nothing", "the connection", "all")


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        pytest.param(["passed"], 0, id="all passed"),
        pytest.param(["passed", "not run"], 0, id="some could not be had here"),
        pytest.param(["not run", "not run"], 1, id="nothing was run"),
        pytest.param(["passed", "failed"], 1, id="one failed"),
        pytest.param([], 1, id="there is no such fault"),
    ],
)
def test_the_exit_code(runs: list[str], code: int) -> None:
    rows = [Outcome(FAULT, ("test_a.py: test_it",), (state,), 1.0) for state in runs]
    assert code_of(rows) == code
