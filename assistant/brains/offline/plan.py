"""Plan the calls and answers of a sentence, before any of them is carried out."""

from collections.abc import Sequence
from datetime import datetime

from assistant.brains.choice import Grasp
from assistant.brains.offline.calls import Call, make_call
from assistant.brains.offline.frames import Ask
from assistant.brains.offline.lexicon import LOOSE_LANGUAGES
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import IMPOSSIBLE, MISSING
from assistant.brains.offline.settle import Problem, separate_commands, settle_target
from assistant.brains.offline.state_answers import StateAnswers
from assistant.brains.offline.talk import Talk
from assistant.tools.catalog.menu import Menu
from integrations.home_assistant.house import House

NO_TOOL = "offline.no_tool"
_LACKING = (NO_TOOL, "offline.no_search", "offline.none_there")
# A step is a call, or the answer to a question. In place of the steps, there can be the first
# problem, or the conversation with a question about one of the commands.
Plan = list[tuple[ParsedCommand, Call | str]] | Problem | Talk


def plan(
    said: Sequence[ParsedCommand | Ask],
    house: House,
    here: str,
    menu: Menu,
    questions: StateAnswers,
    language: str,
    age_s: float | None,
    now: datetime,
) -> Plan:
    """Return the steps of all commands. `here` is the id of this device's area, and `age_s` the age
    of `house` in seconds.

    All commands are checked before the first call, so that a problem with a later command doesn't
    leave the sentence half done.
    """
    commands: list[ParsedCommand | Problem | Ask] = []
    for one in said:
        settled = one if isinstance(one, Ask) else settle_target(one, house, here)
        commands += (
            separate_commands(settled, house) if isinstance(settled, ParsedCommand) else [settled]
        )
    asked = next((one for one in commands if isinstance(one, Ask)), None)
    if asked is not None:
        others = (one for one in commands if isinstance(one, ParsedCommand))
        return Talk(asked=asked, others=tuple(others))
    steps: list[tuple[ParsedCommand, Call | str]] = []
    for command in commands:
        if isinstance(command, Problem | Ask):
            assert isinstance(command, Problem)
            return command
        step: Call | Problem | str | None = questions.answer(command, house, language, age_s)
        if step is None:
            step = make_call(command, house, menu, now)
        if isinstance(step, Problem):
            return step
        steps.append((command, step))
    return steps


def is_missing(command: ParsedCommand | Ask) -> bool:
    """Return True if the command only says what the house lacks or what no tool can do. Another
    brain may understand the sentence."""
    return isinstance(command, ParsedCommand) and command.intent in (MISSING, IMPOSSIBLE)


def grasp_of(planned: Plan, language: str) -> Grasp:
    """Return how well a sentence with this plan is understood."""
    steps = planned if isinstance(planned, list) else []
    lacks = any(is_missing(command) for command, _ in steps)
    if lacks or (isinstance(planned, Problem) and planned.key in _LACKING):
        return Grasp.NONE
    if language.partition("-")[0] not in LOOSE_LANGUAGES:
        return Grasp.SHARED
    return Grasp.GUESSED if any(command.guessed for command, _ in steps) else Grasp.SURE
