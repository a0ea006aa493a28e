"""Tests of the identity of calls, and of what a turn has sent."""

from assistant.domain.tool_call import Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.tools.execution.ledger import LEDGER_CALLS, Ledger


def call(call_id: str = "call-1", name: str = "light", **arguments: str) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def outcome(call_id: str = "call-1") -> ToolOutcome:
    return ToolOutcome(
        call_id, "s", "light", {}, Decision.ALLOWED, Tier.COMFORT, Status.DONE, (), 1.0, "Done."
    )


async def test_a_repeated_call_is_the_same_call() -> None:
    ledger = Ledger()
    entry, fresh = ledger.claim("t", call(name="light", room="Hall"))
    again, fresh_again = ledger.claim("t", call(name="light", room="Hall"))
    assert (fresh, fresh_again) == (True, False)
    assert again is entry


async def test_the_same_id_for_another_call_is_another_call() -> None:
    ledger = Ledger()
    keys = [
        ledger.claim("t", other)[0].key
        for other in (call(name="light"), call(name="fan"), call(name="light", room="Hall"))
    ]
    assert keys == ["call-1", "call-1~2", "call-1~3"]


async def test_a_key_is_never_given_twice() -> None:
    ledger = Ledger()
    ledger.claim("t", call("call-1~2", "blind"))
    ledger.claim("t", call("call-1", "light"))
    assert ledger.claim("t", call("call-1", "fan"))[0].key == "call-1~3"


async def test_turns_are_apart() -> None:
    ledger = Ledger()
    first, _ = ledger.claim("t1", call())
    second, fresh = ledger.claim("t2", call())
    assert fresh
    assert (first.key, second.key) == ("call-1", "call-1")
    assert first.work_id != second.work_id


async def test_mutations_are_what_was_sent_in_order_of_sending() -> None:
    ledger = Ledger()
    light, _ = ledger.claim("t", call("a", "light"))
    fan, _ = ledger.claim("t", call("b", "fan"))
    look, _ = ledger.claim("t", call("c", "look"))
    ledger.claim("t", call("d", "waits"))
    ledger.send(fan, Tier.COMFORT, ("fan.a",))
    ledger.send(look, Tier.READ, ())
    ledger.send(light, Tier.COSTLY, ())
    fan.sent = outcome("b")
    sent = ledger.mutations("t")
    assert [(one.call_id, one.name, one.entities) for one in sent] == [
        ("b", "fan", ("fan.a",)),
        ("a", "light", ()),
    ]
    assert [one.outcome for one in sent] == [outcome("b"), None]
    assert ledger.mutations("another") == ()


async def test_what_is_withdrawn_is_asked_for_anew() -> None:
    ledger = Ledger()
    waiting, _ = ledger.claim("t", call("a"))
    sent, _ = ledger.claim("t", call("b"))
    ledger.send(sent, Tier.COMFORT, ())
    ledger.withdraw("t")
    assert (waiting.withdrawn, sent.withdrawn) == (True, False)
    assert ledger.claim("t", call("a"))[1]
    assert not ledger.claim("t", call("b"))[1]


async def test_only_answered_calls_are_forgotten() -> None:
    ledger = Ledger()
    under_way, _ = ledger.claim("old", call())
    for number in range(LEDGER_CALLS + 10):
        entry, _ = ledger.claim("t", call(str(number)))
        entry.answer.set_result(outcome())
    assert ledger.claim("old", call()) == (under_way, False)
    assert ledger.claim("t", call(str(LEDGER_CALLS + 9)))[1] is False
    assert ledger.claim("t", call("0"))[1] is True
