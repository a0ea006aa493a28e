"""What people say for another profile is understood without any cloud."""

from datetime import datetime

import pytest

from assistant.brains.offline.calls import Call, Problem, make_call
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import Parser
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.box_settings import NONE, SwitchProfile
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.policy.choices import SWITCH_PROFILE
from tests.corpus.house import corpus_house

PARSER = Parser(house_names(corpus_house()))
NOW = datetime(2026, 11, 23, 8, 0)


async def _never(name: str) -> None:
    pytest.fail("nothing is switched here")


def menu(*names: str) -> Menu:
    tool = SwitchProfile(names, lambda wanted: False, _never, Catalogue())
    return build_menu((), {}, (tool.tool(),) if names else ())


@pytest.mark.parametrize(
    ("text", "language", "profile"),
    [
        ("use the profile kids", "en", "kids"),
        ("Switch to profile late night.", "en", "late-night"),
        ("switch to the kids profile", "en-GB", "kids"),
        ("go back to the usual profile", "en", NONE),
        ("end this profile", "en", NONE),
        ("usa el perfil kids", "es", "kids"),
        ("cambia al perfil de kids", "es", "kids"),
        ("vuelve al perfil de siempre", "es", NONE),
        ("sal del perfil", "es-MX", NONE),
    ],
)
def test_a_sentence_leads_to_the_tool(text: str, language: str, profile: str) -> None:
    command = PARSER.parse(text, language, "")
    assert command is not None
    call = make_call(command, corpus_house(), menu("kids", "late-night"), NOW)
    assert call == Call(SWITCH_PROFILE, {"profile": profile})


@pytest.mark.parametrize("names", [("kids",), ()])
def test_a_profile_that_is_not_there_is_told(names: tuple[str, ...]) -> None:
    command = PARSER.parse("use the profile night", "en", "")
    assert command is not None
    problem = make_call(command, corpus_house(), menu(*names), NOW)
    assert problem == Problem("profiles.unknown", {"name": "night"})
