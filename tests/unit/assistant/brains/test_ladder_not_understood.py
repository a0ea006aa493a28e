"""A brain that does not know the sentence leaves it to the next one, and stays in its place."""

from assistant.domain.brain import BrainFault, Heard, ReplyText, TurnDone
from tests.unit.assistant.brains.ladder_stage import DONE, OFFLINE, ONCE, Stage, fault, said, served

UNKNOWN = fault("not_understood")


async def test_the_next_rung_is_asked_and_nothing_is_said_of_it() -> None:
    stage = Stage()
    ladder = stage.of(stage.offline, stage.once)
    stage.expect(offline=[[Heard("tell me a joke"), UNKNOWN]], once=[DONE])
    events = await stage.run(ladder)
    assert served(events) == [OFFLINE, ONCE]
    assert said(events) == "Fine."
    stage.assert_consumed()


async def test_it_is_asked_again_the_next_time_however_often_it_did_not_know() -> None:
    stage = Stage()
    ladder = stage.of(stage.offline, stage.once)
    for _ in range(5):
        stage.expect(offline=[[UNKNOWN]], once=[DONE])
        assert served(await stage.run(ladder))[0] == OFFLINE
    stage.assert_consumed()


async def test_of_several_reasons_it_is_told_last() -> None:
    stage = Stage()
    ladder = stage.of(stage.live, stage.offline)
    stage.expect(live=[[fault("unreachable")]], offline=[[UNKNOWN]])
    end = (await stage.run(ladder))[-1]
    assert isinstance(end, BrainFault)
    assert end.kind == "unreachable"
    stage.assert_consumed()


async def test_without_another_reason_it_is_told() -> None:
    stage = Stage()
    ladder = stage.of(stage.offline)
    stage.expect(offline=[[UNKNOWN]])
    events = await stage.run(ladder)
    assert events[-1] == UNKNOWN
    assert not any(isinstance(event, ReplyText | TurnDone) for event in events)
    stage.assert_consumed()
