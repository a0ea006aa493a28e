"""Tools that the turns of a profile may use."""

import pytest

from assistant.tools.policy.choices import SWITCH_PROFILE, Narrowing, may_use


@pytest.mark.parametrize(
    ("names", "allowed", "may"),
    [
        (("HassTurnOn",), (), True),
        (("HassTurnOn",), ("HassTurnOn",), True),
        (("intent__HassTurnOn", "HassTurnOn"), ("HassTurnOn",), True),
        (("HassTurnOff",), ("HassTurnOn",), False),
        (("HassTurnOff",), ("HassTurn*",), True),
        (("hassturnoff",), ("HassTurn*",), False),
        (("search",), ("s?arch", "x"), True),
        ((SWITCH_PROFILE,), ("HassTurnOn",), True),
    ],
)
def test_which_tools(names: tuple[str, ...], allowed: tuple[str, ...], may: bool) -> None:
    assert may_use(names, allowed) is may


def test_a_turn_and_the_work_begun_in_it_are_narrowed() -> None:
    narrowing = Narrowing()
    narrowing.narrow("t1", ("HassTurnOn",))
    assert narrowing.allows("t1", ("HassTurnOn",))
    assert not narrowing.allows("t1", ("HassTurnOff",))
    assert not narrowing.allows("t1-call-1", ("HassTurnOff",))
    assert narrowing.allows("t2", ("HassTurnOff",))
    assert narrowing.allows("t10", ("HassTurnOff",))


def test_a_turn_without_a_list_is_not() -> None:
    narrowing = Narrowing()
    narrowing.narrow("t1", ())
    assert narrowing.allows("t1", ("HassTurnOff",))


def test_only_so_many_turns_are_remembered() -> None:
    narrowing = Narrowing()
    for number in range(1_001):
        narrowing.narrow(f"t{number}", ("x",))
    assert narrowing.allows("t0", ("y",))
    assert not narrowing.allows("t1000", ("y",))
