"""Who is let in, and how often: programs that run away, and guesses."""

import pytest
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from integrations.web.box import Caller
from integrations.web.guard import (
    ALL_WRONG_AT_ONCE,
    ALL_WRONG_EVERY_S,
    CALLS_AT_ONCE,
    CALLS_EVERY_S,
    UNGUESSABLE,
    WRONG_AT_ONCE,
    WRONG_EVERY_S,
    Guard,
)
from integrations.web.problems import MAX_BODY, Rate, Refused
from tests.unit.integrations.web.doubles import TOKEN, FakeTokens

HOME, ELSEWHERE = "127.0.0.1", "192.168.1.66"
LONG = "t" * UNGUESSABLE


class Watch:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def guard(watch: Watch) -> Guard:
    tokens = FakeTokens()
    tokens.known[LONG] = Caller("http:long", frozenset({"ask"}))
    return Guard(tokens, watch)


def request(token: str | None = TOKEN, host: str | None = HOME) -> HTTPConnection:
    headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
    client = None if host is None else (host, 5000)
    return HTTPConnection({"type": "http", "headers": headers, "client": client})


def refused(guard: Guard, token: str | None, host: str | None = HOME) -> Refused:
    with pytest.raises(Refused) as caught:
        guard.admit(request(token, host), None)
    return caught.value


def test_a_program_that_runs_away_is_slowed(guard: Guard, watch: Watch) -> None:
    for _ in range(CALLS_AT_ONCE):
        guard.admit(request(), None)
    stopped = refused(guard, TOKEN)
    assert (stopped.status, stopped.kind) == (429, "too_many")
    assert int(stopped.headers["Retry-After"]) == 1
    assert guard.admit(request(f"{TOKEN}-ask"), "ask").name == "http:ask"  # the others are not
    watch.now += CALLS_EVERY_S
    guard.admit(request(), None)
    assert refused(guard, TOKEN).status == 429


def test_guesses_are_slowed_and_a_right_one_is_not_told_from_them(
    guard: Guard, watch: Watch
) -> None:
    for _ in range(WRONG_AT_ONCE):
        assert refused(guard, "guess", ELSEWHERE).status == 401
    for token in ("guess", TOKEN):
        stopped = refused(guard, token, ELSEWHERE)
        assert (stopped.status, stopped.headers) == (429, {"Retry-After": "6"})
    watch.now += WRONG_EVERY_S
    assert refused(guard, "guess", ELSEWHERE).status == 401
    assert refused(guard, "guess", ELSEWHERE).status == 429
    assert guard.admit(request(host=HOME), None).name == "http:admin"  # elsewhere it goes on


def test_who_was_let_in_from_there_is_not_shut_out_by_a_neighbour(guard: Guard) -> None:
    guard.admit(request(host=ELSEWHERE), None)
    for _ in range(WRONG_AT_ONCE + 1):
        refused(guard, "an old token", ELSEWHERE)
    assert guard.admit(request(host=ELSEWHERE), None).name == "http:admin"
    assert refused(guard, f"{TOKEN}-read", ELSEWHERE).status == 429


def test_no_token_is_no_guess(guard: Guard) -> None:
    for _ in range(WRONG_AT_ONCE + 1):
        assert refused(guard, None, ELSEWHERE).status == 401
    guard.admit(request(host=ELSEWHERE), None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::2:3", True),  # one machine has a network of them
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("10.0.0.1", "10.0.0.2", False),
        ("127.0.0.1", "127.9.8.7", True),  # one machine has sixteen million of them
        ("127.0.0.1", "::1", True),
        ("127.0.0.1", "::ffff:127.0.0.2", True),
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("", "", True),
    ],
)
def test_what_counts_as_one_address(guard: Guard, first: str, second: str, same: bool) -> None:
    for _ in range(WRONG_AT_ONCE):
        refused(guard, "guess", first)
    assert refused(guard, "guess", second).status == (429 if same else 401)


def guesses_from_everywhere(guard: Guard) -> None:
    """As many as all places together may; none of them has used up its own."""
    for number in range(ALL_WRONG_AT_ONCE):
        assert refused(guard, "guess", f"2001:db8:0:{number:x}::1").status == 401


def test_many_addresses_have_no_fresh_allowance_each(guard: Guard, watch: Watch) -> None:
    guesses_from_everywhere(guard)
    for host in ("2001:db8:1::1", "10.9.8.7", "192.168.1.99"):
        stopped = refused(guard, "guess", host)
        assert (stopped.status, stopped.headers) == (429, {"Retry-After": "2"})
    watch.now += ALL_WRONG_EVERY_S
    assert refused(guard, "guess", "10.9.8.7").status == 401
    assert refused(guard, "guess", "10.9.8.8").status == 429


def test_guesses_of_others_shut_out_nobody_who_guesses_nothing(guard: Guard) -> None:
    guard.admit(request(host=ELSEWHERE), None)
    guesses_from_everywhere(guard)
    assert guard.admit(request(host=ELSEWHERE), None).name == "http:admin"  # let in before
    assert guard.admit(request(host=HOME), None).name == "http:admin"  # this machine
    assert refused(guard, TOKEN, "10.0.0.9").status == 429  # too short: it might be a guess
    assert guard.admit(request(LONG, "10.0.0.9"), None).name == "http:long"
    assert refused(guard, "x" * UNGUESSABLE, "10.0.0.9").status == 429


def test_this_machine_uses_up_its_own_allowance_alone(guard: Guard) -> None:
    for number in range(3 * ALL_WRONG_AT_ONCE):
        refused(guard, "guess", f"127.0.0.{number}")
    assert refused(guard, "guess", ELSEWHERE).status == 401


def test_a_request_of_nobody_is_counted_too(guard: Guard) -> None:
    for _ in range(WRONG_AT_ONCE):
        refused(guard, "guess", None)
    assert refused(guard, "guess", None).status == 429


def test_a_scope_is_needed_and_the_administrator_has_all(guard: Guard) -> None:
    with pytest.raises(Refused, match="scope read") as caught:
        guard.admit(request(f"{TOKEN}-speak"), "read")
    assert caught.value.status == 403
    assert guard.admit(request(f"{TOKEN}-speak"), "speak").name == "http:speak"
    assert guard.admit(request(), "read").name == "http:admin"


def test_a_rate_forgets_who_came_first_when_there_are_too_many(watch: Watch) -> None:
    rate = Rate(1, 10.0, watch)
    assert rate.take("first") == 0
    assert rate.take("first") == 10
    for number in range(1024):
        assert rate.take(str(number)) == 0
    assert rate.wait_s("1023") == 10
    assert rate.wait_s("first") == 0


def test_another_application_is_told_who_asks(guard: Guard) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        caller = Request(scope).state.caller
        await JSONResponse({"name": caller.name, "kept": scope["state"]["kept"]})(
            scope, receive, send
        )

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        await guard.around(app, "ask")({**scope, "state": {"kept": 1}}, receive, send)

    client = TestClient(outer)
    headers = {"Authorization": f"Bearer {TOKEN}-ask"}
    assert client.post("/", headers=headers).json() == {"name": "http:ask", "kept": 1}
    assert client.post("/").status_code == 401
    read = {"Authorization": f"Bearer {TOKEN}-read"}
    assert client.post("/", headers=read).json()["error"]["kind"] == "forbidden"
    assert client.post("/", headers=headers, content=b"x" * (MAX_BODY + 1)).status_code == 413
