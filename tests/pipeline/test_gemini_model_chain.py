"""Tests of `gemini.model` as a list, with models that are gone. Simulated service."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assistant.brains.gemini.model_chain import KEPT, NAME
from assistant.brains.gemini.repair import NAME as REPAIRS
from assistant.doctor.gemini import examine_gemini
from integrations.gemini.models import model_row
from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    ONCE,
    SAID,
    SERVED,
    ended,
    gemini_settings,
    said,
    scene,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.models import MODELS, ModelRules
from tests.simulators.script import Done, OnceTurn, Opening, Say, Tokens, Turn
from tests.unit.assistant.doctor.scenes import scene as doctor_scene

FIRST, NEXT, OTHER = "gemini-3.8-live", "gemini-3.1-flash-live-preview", "gemini-9-live"
SWITCHED = (
    "By the way, Google no longer offers the Gemini model I was using, so I've switched to the "
    "next one. "
)
CHAIN = {"model": [FIRST, NEXT]}


def models_of(service: GeminiSimulator) -> list[str]:
    """Return the models of the sessions that were opened."""
    return [one.setup.model for one in service.connections if one.setup is not None]


def refusals_of(service: GeminiSimulator) -> list[tuple[int, str]]:
    return [one.refused for one in service.connections if one.refused is not None]


async def test_a_model_that_is_gone_is_replaced_in_the_same_turn(
    tmp_path: Path, command: Path
) -> None:
    service = GeminiSimulator([Turn("audio", SERVED)] * 2, retired=[FIRST])
    async with scene(tmp_path, service, hears=True, gemini=CHAIN) as on:
        on.repeats = True
        faults: list[Mapping[str, Any]] = []
        on.app.home.bus.follow(lambda event: faults.append(event.data))
        turn = await on.hear(command)
        assert (ended(turn), said(turn)) == ((LIVE, None), SWITCHED + SAID)
        assert turn.record.model == NEXT
        begun, over = [each for each in faults if each.get("what") == "gemini_model"]
        assert begun["problem"].startswith(
            f"Google does not offer the model {FIRST} for Gemini Live, so {NEXT} is used. 1008 "
        )
        assert not over["on"]

        on.app.brains.forget()
        turn = await on.hear(command)
        assert (ended(turn), said(turn)) == ((LIVE, None), SAID), "it is told once"
        assert len(refusals_of(service)) == 1
        assert models_of(service) == [NEXT] * 2


async def test_the_cost_follows_the_model_in_use(tmp_path: Path) -> None:
    """An unknown model has the price of the most expensive known model."""
    done = Done(usage=Tokens(prompt=1_000_000, response=0))
    service = GeminiSimulator(
        [Turn("text", [Say(SAID), done])],
        retired=[FIRST],
        models={**MODELS, OTHER: ModelRules(live=True)},
    )
    async with scene(tmp_path, service, gemini={"model": [FIRST, OTHER]}) as on:
        turn = await on.ask("are the office lights on")
        assert turn.record.model == OTHER
        dearest = model_row(OTHER)[0].prices[0].text_in  # twice the price of the first model
        assert turn.record.cost_usd == pytest.approx(dearest, rel=0.01)


async def test_repairs_are_kept_for_the_model_in_use(tmp_path: Path) -> None:
    codes = "inputAudioTranscription.languageCodes"
    named = "Unknown name \"languageCodes\" at 'setup.input_audio_transcription'."
    service = GeminiSimulator(
        [Turn("text", SERVED)],
        retired=[FIRST],
        opening=Opening(refuses=[codes], refusal=(1007, named)),
    )
    async with scene(tmp_path, service, gemini=CHAIN) as on:
        turn = await on.ask(ASKED)
        assert ended(turn) == (LIVE, None)
        stored = await on.app.home.store.kept(REPAIRS)
        assert isinstance(stored, dict)
        assert [row["part"] for row in stored[f"{NEXT} v1beta"]] == ["language codes"]
        assert stored.get(f"{FIRST} v1beta", []) == []


@pytest.mark.parametrize(
    "reason",
    [
        f"models/{FIRST} is not found for API version v1beta, or is not supported for "
        "bidiGenerateContent.",
        f"models/{FIRST} is not supported for bidiGenerateContent.",
        f"This model models/{FIRST} is no longer available to new users.",
        f"Publisher Model `projects/p/locations/l/publishers/google/models/{FIRST}` was not found "
        "or your project does not have access to it.",
    ],
)
async def test_every_way_of_saying_that_a_model_is_gone(tmp_path: Path, reason: str) -> None:
    openings = [Opening(refuse=(1008, reason))]
    service = GeminiSimulator([Turn("text", SERVED)], openings=openings)
    async with scene(tmp_path, service, gemini=CHAIN) as on:
        turn = await on.ask(ASKED)
        assert (ended(turn), turn.record.model) == ((LIVE, None), NEXT)


@pytest.mark.parametrize(
    ("opening", "brain"),
    [
        (Opening(http_status=503), LIVE),
        (Opening(drop=True), LIVE),
        (Opening(refuse=(1011, "The service is currently unavailable.")), LIVE),
        (Opening(refuse=(1008, "Operation is not implemented, or supported.")), LIVE),
        (Opening(refuse=(1011, "You exceeded your current quota.")), ONCE),
        (Opening(refuse=(1007, "User location is not supported for the API use.")), ONCE),
    ],
    ids=["503", "drop", "unavailable", "not implemented", "quota", "location"],
)
async def test_other_trouble_does_not_change_the_model(
    tmp_path: Path, opening: Opening, brain: str
) -> None:
    lives = 2 if brain == LIVE else 1
    service = GeminiSimulator(
        [Turn("text", SERVED)] * lives, openings=[opening], once=[OnceTurn(SERVED)] * (2 - lives)
    )
    async with scene(tmp_path, service, gemini=CHAIN) as on:
        on.repeats = True
        assert ended(await on.ask(ASKED)) == (brain, None)
        on.clock.leap(3_700.0)
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        assert set(models_of(service)) == {FIRST}
        assert await on.app.home.store.kept(NAME) is None


async def test_a_restart_remembers_and_time_forgets(tmp_path: Path) -> None:
    first = GeminiSimulator([Turn("text", SERVED)], retired=[FIRST])
    async with scene(tmp_path, first, gemini=CHAIN) as on:
        await on.ask(ASKED)
    second = GeminiSimulator([Turn("text", SERVED)] * 2)
    async with scene(tmp_path, second, gemini=CHAIN) as on:
        on.repeats = True
        assert said(await on.ask(ASKED)) == SAID
        on.clock.leap(KEPT.total_seconds() + 1)
        assert said(await on.ask(ASKED)) == SAID
        assert models_of(second) == [NEXT, FIRST]


async def test_the_next_brain_answers_if_all_models_are_gone(tmp_path: Path) -> None:
    service = GeminiSimulator(retired=[FIRST, NEXT], once=[OnceTurn(SERVED)])
    async with scene(tmp_path, service, gemini=CHAIN) as on:
        assert ended(await on.ask(ASKED)) == (ONCE, None)
        assert "retired" not in said(on.turns[-1])
        assert len(refusals_of(service)) == 2
        stored = await on.app.home.store.kept(NAME)
        assert list(stored or {}) == [f"{FIRST} v1beta"], "the last one is tried again"


async def test_the_doctor_tells_which_model_is_gone(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", SERVED)], retired=[FIRST])
    async with scene(tmp_path, service, gemini=CHAIN) as on:
        await on.ask(ASKED)
    settings = gemini_settings(service, tmp_path, gemini=CHAIN)
    found = {one.check: one for one in await examine_gemini(doctor_scene(settings))}
    assert f"model {NEXT}" in found["gemini"].detail
    models = found["gemini models"]
    assert models.status == "warn"
    assert models.detail.startswith(f"Google does not offer {FIRST}; it is skipped until ")
    assert f"remove {FIRST} from gemini.model" in models.mend
