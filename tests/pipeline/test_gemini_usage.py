"""Tests of the cost of turns whose tokens Gemini reports only in part. Simulated service.

The comment on each report names its source. No such turn is free: the daily limit counts estimates
like reported tokens.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import LIVE, OFFICE, OFFLINE, ONCE, TURN_ON, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, OnceTurn, Raw, Say, Step, Tokens, Turn, Used

ASKED = "turn on the office lights"
WORDS = "The office lights are on."
READ = {"TEXT": 2_500}
WHOLE = Tokens(2_500, 50, prompt_details=READ, response_details={"AUDIO": 50})
PART = Tokens(2_500, 20, prompt_details=READ, response_details={"AUDIO": 20})
CALL = Call(TURN_ON, OFFICE)
ANSWER: list[Step] = [CALL, Say(WORDS, audio_s=2.0)]  # 50 tokens of sound


def reported(**counts: object) -> Raw:
    return Raw({"serverContent": {"turnComplete": True}, "usageMetadata": counts})


REPORTS: dict[str, tuple[Sequence[Step], bool]] = {
    # pipecat: turn_complete without usage_metadata
    "nothing": ([Done()], True),
    # neuron-core/neuron-ai #443, of generateContent
    "nothing but the kind of traffic": ([reported(trafficType="ON_DEMAND")], True),
    "only a total": ([reported(totalTokenCount=10)], True),
    "counts without modalities": ([Done(usage=Tokens(2_500, 50))], True),
    "everything": ([Done(usage=WHOLE)], False),
    # sierra-research/tau2-bench #454: totals so far, in several messages
    "everything, in pieces": (
        [Used(PART), Used(WHOLE), Done(usage=WHOLE)],
        False,
    ),
    # Google's developer forum, 188765: the total lacks the thoughts
    "a total that is too small": (
        [
            reported(
                promptTokenCount=2_500,
                responseTokenCount=10,
                thoughtsTokenCount=40,
                totalTokenCount=2_510,
                promptTokensDetails=[{"modality": "TEXT", "tokenCount": 2_475}],
                responseTokensDetails=[{"modality": "AUDIO", "tokenCount": 10}],
            )
        ],
        False,
    ),
}


@pytest.mark.parametrize("name", REPORTS)
async def test_no_turn_is_free(tmp_path: Path, name: str) -> None:
    steps, estimated = REPORTS[name]
    service = GeminiSimulator([Turn("text", [*ANSWER, *steps])])
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        turn = await on.ask(ASKED)
        assert said(turn) == WORDS
        usage = turn.record.usage
        assert usage is not None
        assert usage.estimated is estimated
        if not estimated:
            assert (usage.input_tokens, usage.output_tokens) == (2_500, 50)
        # The menu and the instruction are read before the call and after its result.
        assert 2_000 < usage.input_tokens < 7_000
        assert 0.001 < turn.record.cost_usd < 0.01


async def test_the_daily_limit_counts_estimates(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [*ANSWER, Done()])])
    async with scene(tmp_path, service, limits={"daily_cost_usd": 0.002}) as on:
        on.repeats = True
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        assert ended(await on.ask(ASKED)) == (OFFLINE, None)
        assert len(service.turns) == 1


async def test_plain_requests_are_estimated_too(tmp_path: Path) -> None:
    none = Used(Tokens(0, 0))
    service = GeminiSimulator(once=[OnceTurn([none, CALL, none, Say(WORDS), Done()])])
    limits = {"daily_cost_usd": 0.002}
    async with scene(tmp_path, service, brain={"order": [ONCE, OFFLINE]}, limits=limits) as on:
        on.repeats = True
        turn = await on.ask(ASKED)
        assert (ended(turn), said(turn)) == ((ONCE, None), WORDS)
        usage = turn.record.usage
        assert usage is not None
        assert (usage.estimated, usage.input_tokens > 4_000) == (True, True)
        assert ended(await on.ask(ASKED)) == (OFFLINE, None)
