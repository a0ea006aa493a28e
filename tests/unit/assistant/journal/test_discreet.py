"""While guests are in the house what was done is kept, and no words."""

from dataclasses import replace
from pathlib import Path

from assistant.conversation.record import wordless
from assistant.domain.clock import VirtualClock
from assistant.domain.outcome import Decision, Status
from assistant.journal.audit import STARS, Discreet, audit_of
from assistant.journal.store import Store
from tests.unit.assistant.journal.samples import a_call, a_turn, an_audit, an_outcome


async def test_no_words_are_kept_while_it_says_so(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    guests = True
    journal = Discreet(store, lambda: not guests)
    await journal.start_call(a_call(clock))
    await journal.finish_call("t1", an_outcome())
    await journal.audit(an_audit(clock))
    await store.record_turn(wordless(a_turn(clock)))
    (call,), (row,), turn = await store.calls("t1"), await store.audited(), await store.last_turn()
    assert (call.arguments, call.sentence, call.status) == ({}, "", Status.DONE)
    assert (row.heard, row.arguments, row.sentence) == (None, {}, None)
    assert (row.entities, row.decision) == (("light.kitchen",), Decision.ALLOWED)
    assert turn is not None
    assert (turn.heard, turn.answer, turn.clauses) == (None, None, ())
    assert turn.cost_usd == 0.25
    files = b"".join(part.read_bytes() for part in path.parent.iterdir())
    for words in ("enciende", "encendida", "Küche", "The light is on", "Unlock Front Door"):
        assert words.encode() not in files

    guests = False
    await journal.finish_call("t1", an_outcome("c2"))
    await journal.audit(an_audit(clock, "c2"))
    assert (await store.calls("t1"))[1].sentence == "The light is on."
    assert (await store.audited(limit=1))[0] == an_audit(clock, "c2")


def test_the_row_of_an_outcome(clock: VirtualClock) -> None:
    outcome = replace(
        an_outcome(), rule="unlock", entities=("lock.front",), confirmed_by="phone Ana"
    )
    row = audit_of(outcome, clock.now(), "t1", "unlock the door", "Kitchen box")
    assert (row.call_id, row.rule, row.entities) == ("c1", "unlock", ("lock.front",))
    assert (row.confirmed_by, row.heard, row.satellite) == (
        "phone Ana",
        "unlock the door",
        "Kitchen box",
    )
    assert (row.at, row.ms, row.observed) == (clock.now(), 250.0, outcome.observed)


def test_what_was_said_around_a_pin_is_starred(clock: VirtualClock) -> None:
    outcome = replace(an_outcome(), confirmed_by="pin voice")
    assert audit_of(outcome, clock.now(), "t1", "four seven one one", "").heard == STARS
    assert audit_of(outcome, clock.now(), "t1", None, "").heard is None
