"""Which templates may answer to a sentence: too many rather than too few."""

import pytest

from integrations.home_assistant.effects import MAX_SLOTS, MAX_TEMPLATE, may_answer


@pytest.mark.parametrize(
    ("template", "text", "answers"),
    [
        ("activate party mode [in {room}]", "Activate party mode.", True),
        ("activate party mode [in {room}]", "activate party-mode in the kitchen", True),
        ("activate party mode", "activate the party mode", False),
        ("(open|unlock) [the] gate", "Unlock gate!", True),
        ("(open|unlock) [the] gate", "lock the gate", False),
        ("[[the] big] dog", "dog", True),
        ("{anything}", "unlock the door", True),
        ("<verb> the door", "unlock the door", True),
        ("(up;down)", "whatever", True),
        ("broken (", "whatever", True),
        ("öffne das Tor", "Öffne das tor", True),
        ("a" * (MAX_TEMPLATE + 1), "whatever", True),
        ("{a}x" * (MAX_SLOTS + 1), "whatever", True),
    ],
)
def test_a_template_and_a_sentence(template: str, text: str, answers: bool) -> None:
    assert may_answer(template, text) is answers
