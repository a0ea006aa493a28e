"""The embedded house as a stage: put back, and looked at after a turn."""

from dataclasses import replace
from pathlib import Path

from assistant.conversation.record import FinishedTurn
from assistant.domain.records import ErrorRecord
from assistant.evaluation.trial import Stage
from tests.pipeline.rig import offline_settings, pipeline


async def test_what_turns_did_and_how_the_house_is_put_back(tmp_path: Path) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        stage = Stage(app)
        await stage.reset({"light.hall": "on"})
        assert stage.now()["light.hall"] == "on"
        await app.runner.ask("turn on the kitchen light")
        await app.runner.ask("unlock the front door")
        seen = await stage.look_at(app.log.turns)
        assert seen.changed == {"light.kitchen"}
        assert seen.did == ("intent__HassTurnOn",)
        [denied] = seen.denied
        assert "Front door" in denied
        assert (seen.woken, seen.failed, seen.understood) == (True, False, True)
        await stage.reset({})
        assert (await stage.look(None)).changed == frozenset()
        assert stage.now()["light.hall"] == "off"
        last = app.log.turns[-1]
        slow = replace(last.record, error=ErrorRecord("timeout", None), clauses=("Too long.",))
        assert (await stage.look(FinishedTurn(slow, ()))).failed
        mute = replace(slow, clauses=())
        assert not (await stage.look(FinishedTurn(mute, ()))).failed
