"""The set-up as the service gets it: only what the model's row allows."""

import asyncio
import warnings
from dataclasses import replace
from typing import Any

import pytest
from google.genai import types
from pydantic import ValidationError

from integrations.gemini.checked import CheckedSchema
from integrations.gemini.declarations import Declaration, convert
from integrations.gemini.live import LiveClient
from integrations.gemini.models import MODELS, ModelRow, model_row
from integrations.gemini.setup import LiveSetup, live_config, thinking_of, tools_of
from tests.unit.integrations.gemini.loopback import Json, Peer, Service

LIGHT = convert(
    "light",
    "Switches a light.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "level": {"type": "integer", "minimum": 0, "maximum": 100},
            "room": {"type": ["string", "null"]},
            "mode": {"enum": ["on", "off"]},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
)
STOP = convert("stop", "Stops.", {"type": "object", "properties": {}})


def full(row: ModelRow) -> LiveSetup:
    """Make a set-up that requests everything."""
    return LiveSetup(
        row,
        "Be brief.",
        (LIGHT, STOP),
        vocabulary=("Kitchen", "Anna"),
        language_codes=("en-US", "es-ES"),
        voice="Kore",
        google_search=True,
        handle="h-1",
        thinking="medium",
    )


async def on_the_wire(service: Service, setup: LiveSetup) -> Json:
    """Return the set-up message that the real client sends."""
    taken: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    async def script(peer: Peer) -> None:
        await peer.accept()
        taken.set_result(peer.setup)
        await peer.gone()

    service.play(script)
    async with LiveClient(service.access) as client:
        await (await client.connect(setup, lambda event: None)).close()
    return await taken


async def test_all_that_the_default_model_takes(service: Service) -> None:
    light = {
        "type": "OBJECT",
        "properties": {
            "name": {"type": "STRING", "min_length": 1},
            "level": {"type": "INTEGER", "minimum": 0.0, "maximum": 100.0},
            "room": {"type": "STRING", "nullable": True},
            "mode": {"type": "STRING", "enum": ["on", "off"]},
        },
        "required": ["name"],
    }
    found = await on_the_wire(service, full(model_row("gemini-3.8-live")[0]))
    tools = sorted(found.pop("tools"), key=str)
    assert tools == [
        {
            "functionDeclarations": [
                {
                    "name": "light",
                    "description": "Switches a light.",
                    "parameters": light,
                    "behavior": "BLOCKING",
                },
                {"name": "stop", "description": "Stops.", "behavior": "BLOCKING"},
            ]
        },
        {"googleSearch": {}},
    ]
    voice = {"voice_config": {"prebuilt_voice_config": {"voice_name": "Kore"}}}
    assert found == {
        "model": "models/gemini-3.8-live",
        "generationConfig": {"responseModalities": ["AUDIO"], "speechConfig": voice},
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "sessionResumption": {"handle": "h-1"},
        "inputAudioTranscription": {
            "custom_vocabulary": ["Kitchen", "Anna"],
            "language_codes": ["en-US", "es-ES"],
        },
        "outputAudioTranscription": {},
        "realtimeInputConfig": {
            "automatic_activity_detection": {"disabled": True},
            "activity_handling": "START_OF_ACTIVITY_INTERRUPTS",
            "turn_coverage": "TURN_INCLUDES_ONLY_ACTIVITY",
        },
        "contextWindowCompression": {
            "trigger_tokens": 10_000,
            "sliding_window": {"target_tokens": 4_000},
        },
    }


async def test_an_unknown_model_gets_nothing_optional(service: Service) -> None:
    found = await on_the_wire(service, full(model_row("gemini-9-live")[0]))
    assert found["model"] == "models/gemini-9-live"
    assert "thinkingConfig" not in found["generationConfig"]
    assert found["inputAudioTranscription"] == {}
    [functions] = found["tools"]
    assert [sorted(one) for one in functions["functionDeclarations"]] == [
        ["description", "name", "parameters"],
        ["description", "name"],
    ]


async def test_a_bare_setup_has_neither_tools_nor_voice_nor_handle(service: Service) -> None:
    found = await on_the_wire(service, LiveSetup(model_row("gemini-3.8-live")[0], "Hi.", ()))
    assert found["sessionResumption"] == {}
    assert found["generationConfig"] == {"responseModalities": ["AUDIO"]}
    assert "tools" not in found


@pytest.mark.parametrize("row", [row for row in MODELS.values() if row.kind == "live"])
async def test_every_live_row_makes_a_setup(service: Service, row: ModelRow) -> None:
    found = await on_the_wire(service, full(row))
    behaviors = {
        one.get("behavior")
        for tool in found["tools"]
        for one in tool.get("functionDeclarations", ())
    }
    assert behaviors == {row.behaviors[0] if row.behaviors else None}
    assert ({"googleSearch": {}} in found["tools"]) is row.search
    transcription = found["inputAudioTranscription"]
    assert ("custom_vocabulary" in transcription) is row.custom_vocabulary
    assert ("language_codes" in transcription) is row.language_codes


def thinking(name: str, wish: str) -> Json | None:
    config = thinking_of(model_row(name)[0], wish)
    return None if config is None else config.model_dump(mode="json", exclude_none=True)


@pytest.mark.parametrize(
    ("model", "wish", "expected"),
    [
        ("gemini-3.8-live", "high", None),
        ("gemini-9-live", "high", None),
        ("gemini-3.8-live-extended-thinking", "", {"thinking_level": "LOW"}),
        ("gemini-3.8-live-extended-thinking", "minimal", {"thinking_level": "LOW"}),
        ("gemini-3.8-live-extended-thinking", " Medium ", {"thinking_level": "MEDIUM"}),
        ("gemini-3.8-live-extended-thinking", "xhigh", {"thinking_level": "HIGH"}),
        ("gemini-3.8-live-extended-thinking", "much", {"thinking_level": "LOW"}),
        ("gemini-3.1-flash-live-preview", "", None),
        ("gemini-3.1-flash-live-preview", "minimal", {"thinking_level": "MINIMAL"}),
        ("gemini-2.5-flash-native-audio-preview-12-2025", "", {"thinking_budget": 0}),
        ("gemini-2.5-flash-native-audio-preview-12-2025", "low", {"thinking_budget": 1024}),
        ("gemini-3.8-flash", "", {"thinking_level": "LOW"}),
        ("gemini-3.7-flash", "minimal", {"thinking_level": "LOW"}),
        ("gemini-3.8-flash", "high", {"thinking_level": "HIGH"}),
    ],
)
def test_thinking(model: str, wish: str, expected: Json | None) -> None:
    assert thinking(model, wish) == expected


def test_a_plain_request_states_no_behaviour() -> None:
    row = model_row("gemini-3.8-flash")[0]
    [tool] = tools_of(row, [LIGHT], google_search=False)
    assert tool.function_declarations is not None
    assert tool.function_declarations[0].behavior is None
    assert tool.function_declarations[0].parameters_json_schema is None


def test_equal_setups_are_equal() -> None:
    row = model_row("gemini-3.8-live")[0]
    assert full(row) == full(row)
    assert full(row) != replace(full(row), voice="Puck")


def test_a_large_house_does_not_set_the_compression_off() -> None:
    row, _ = model_row("gemini-3.8-live")
    setup = LiveSetup(row, "word " * 8_000, (Declaration("f", "Does it. " * 1_000, None, ()),))
    compression = live_config(setup).context_window_compression
    assert compression is not None
    assert compression.sliding_window is not None
    told = (5 * 8_000 + 9 * 1_000) // 4
    assert compression.trigger_tokens == pytest.approx(told + 6_000, abs=10)
    assert compression.sliding_window.target_tokens == pytest.approx(told + 2_000, abs=10)


# --- Our schemas are sent to google-genai as its own class would send them.

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"line": {"type": ["integer", "string"], "minimum": 1}},
                "required": ["line"],
            },
        },
        "order": {"enum": ["name", "size"], "description": "By what"},
        "head": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["edits"],
}


def test_the_same_goes_out_as_from_the_sdk_s_class() -> None:
    declaration = convert("edit", "Edits", SCHEMA)
    assert declaration.parameters is not None
    theirs = types.Schema.model_validate(declaration.parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (tool,) = tools_of(model_row("", "live")[0], [declaration], google_search=False)
        (function,) = tool.model_dump(exclude_none=True)["function_declarations"]
    assert function["parameters"] == theirs.model_dump(exclude_none=True)


def test_members_of_every_kind_are_of_the_class_that_does_not_look() -> None:
    schema = CheckedSchema.model_validate(convert("edit", "", SCHEMA).parameters)
    assert schema.properties is not None
    items = schema.properties["edits"].items
    assert isinstance(items, CheckedSchema)
    assert items.properties is not None
    either = items.properties["line"].any_of
    assert either is not None
    assert [type(one) for one in either] == [CheckedSchema, CheckedSchema]


def test_what_is_no_schema_is_refused_as_before() -> None:
    with pytest.raises(ValidationError):
        CheckedSchema.model_validate({"type": "OBJECT", "unheardOf": 1})
