"""Places of connections, and the number that one may have."""

import pytest

from integrations.places import LOOPBACK, ConnectionRoom, place_of

ROOM = ConnectionRoom(10, of_one=5, few=2, kept_for_few=3, kept_for_loopback=2)


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("127.0.0.1", LOOPBACK),
        ("127.3.2.1", LOOPBACK),
        ("::1", LOOPBACK),
        ("::ffff:127.0.0.9", LOOPBACK),
        ("::ffff:192.168.1.6", "192.168.1.6"),
        ("192.168.1.6", "192.168.1.6"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:0:0:2", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_what_counts_as_one_place(host: str, place: str) -> None:
    assert place_of(host) == place


@pytest.mark.parametrize(
    ("place", "held", "left"),
    [
        ("a", [], True),
        ("a", ["a"] * 4, True),
        ("a", ["a"] * 5, False),  # the limit of one place
        ("a", ["a", "a", "b", "b"], True),
        ("a", ["a", "a", *"bbb"], False),  # the rest is reserved for places with few
        ("a", ["a", *"bbbbcc"], True),
        ("a", ["a", *"bbbbccc"], False),  # the very last are for this machine
        (LOOPBACK, ["a"] * 8, True),
        (LOOPBACK, [*"aaaaabbbb"], True),
        (LOOPBACK, [*"aaaaabbbbb"], False),
        (LOOPBACK, [LOOPBACK, LOOPBACK, *"aaa"], False),  # which has more than few by now
    ],
)
def test_room_is_left_for_whoever_holds_few(place: str, held: list[str], left: bool) -> None:
    assert ROOM.is_left(place, held) is left
