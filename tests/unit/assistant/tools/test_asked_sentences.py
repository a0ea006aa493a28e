"""For every rule there is a question, what is said after a no, and a refusal."""

import pytest

from assistant.speech.catalogue import Catalogue, fields
from assistant.tools.policy.risk import SECURE_RULES

OF_THINGS = {
    *(*SECURE_RULES, "several", "script", "scene", "button", "automation", "unknown_thing"),
    *("runs-on", "oven", "water", "heat", "comfort", "rated"),
}
OF_CALLS = {
    *("unknown_tool", "sentence", "later", "note", "read", "built-in", "allow", "set_mode"),
    "unseen_thing",
}
KNOWN = {"names", "others", "degrees"}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("rule", sorted(OF_THINGS | OF_CALLS))
def test_every_rule_has_its_sentences(rule: str, language: str) -> None:
    catalogue = Catalogue()
    asked = catalogue.text(f"confirm.ask_{rule}", language)
    assert asked.endswith("?")
    assert fields(asked) <= KNOWN - {"others"}
    assert fields(catalogue.text(f"confirm.left_{rule}", language)) <= {"names"}
    assert fields(catalogue.text(f"policy.{rule}", language)) <= {"names"}
    if rule in OF_THINGS | {"unknown_tool"}:
        more = catalogue.text(f"confirm.ask_{rule}_more", language)
        assert {"names", "others"} <= fields(more) <= KNOWN
