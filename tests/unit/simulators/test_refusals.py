"""Tests of the simulated Live API's refusals: each mistake with its close code, nothing else."""

from collections.abc import Sequence
from typing import Any

import pytest
import websockets

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Opening, Stall, Turn
from tests.unit.simulators.client import (
    END,
    LIGHT,
    PATH,
    START,
    audio,
    bare,
    bare_session,
    setup,
    typed,
)


def functions(*declarations: Any) -> list[Any]:
    return [{"functionDeclarations": list(declarations)}]


def taking(schema: Any) -> list[Any]:
    """One function whose argument `x` has this schema."""
    parameters = {"type": "OBJECT", "properties": {"x": schema}}
    return functions({"name": "f", "parameters": parameters})


SETUPS = {
    "thinking": ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}, "Thinking"),
    "empty thinking": ({"generationConfig": {"thinkingConfig": {}}}, "Thinking level"),
    "affective": ({"generationConfig": {"enableAffectiveDialog": True}}, "Affective"),
    "proactive off": ({"proactivity": {"proactiveAudio": False}}, "Proactive audio"),
    "text": ({"generationConfig": {"responseModalities": ["TEXT"]}}, "Cannot extract voices"),
    "unknown field": ({"outputTranscription": {}}, 'Unknown name "outputTranscription"'),
    "transparent": ({"sessionResumption": {"transparent": True}}, "Unknown name"),
    "adaptation": ({"inputAudioTranscription": {"adaptationPhrases": []}}, "Unknown name"),
    "vocabulary out": ({"outputAudioTranscription": {"customVocabulary": ["x"]}}, "Unknown name"),
    "interruption": (
        {"realtimeInputConfig": {"activityHandling": "NO_INTERRUPTION"}},
        "activity_handling",
    ),
    "compression": (
        {"contextWindowCompression": {"triggerTokens": 4, "slidingWindow": {"targetTokens": 9}}},
        "target_tokens",
    ),
    "json schema": (
        {"tools": functions({"name": "f", "parametersJsonSchema": {"type": "object"}})},
        'Unknown name "parametersJsonSchema"',
    ),
    "no functions": ({"tools": functions()}, "should not be empty"),
    "empty tool": ({"tools": [{}]}, "tool_type"),
    "bad name": ({"tools": functions({"name": "1bad"})}, "Invalid function name"),
    "double": ({"tools": functions({"name": "f"}, {"name": "f"})}, "Duplicate function"),
    "double in two tools": (
        {"tools": [*functions({"name": "f"}), *functions({"name": "f"})]},
        "Duplicate function",
    ),
    "too many": ({"tools": functions(*({"name": f"f{n}"} for n in range(513)))}, "at most 512"),
    "behavior": ({"tools": functions({"name": "f", "behavior": "LATER"})}, "behavior"),
    "not an object": (
        {"tools": functions({"name": "f", "parameters": {"type": "STRING"}})},
        "must be OBJECT",
    ),
    "lower case": ({"tools": taking({"type": "string"})}, "Invalid value"),
    "type list": ({"tools": taking({"type": ["STRING", "NULL"]})}, "Invalid value"),
    "no type": ({"tools": taking({"description": "x"})}, "must be specified"),
    "const": ({"tools": taking({"type": "STRING", "const": "a"})}, 'Unknown name "const"'),
    "additional": (
        {"tools": taking({"type": "OBJECT", "properties": {}, "additionalProperties": False})},
        'Unknown name "additionalProperties"',
    ),
    "enum": ({"tools": taking({"type": "STRING", "enum": ["a", 1]})}, "enum[1]"),
    "integer enum": ({"tools": taking({"type": "INTEGER", "enum": [1]})}, "not allowed"),
    "empty choice": ({"tools": taking({"type": "STRING", "enum": [""]})}, "cannot be empty"),
    "items": ({"tools": taking({"type": "ARRAY"})}, "items: missing"),
    "required": (
        {"tools": taking({"type": "OBJECT", "properties": {}, "required": ["y"]})},
        "property is not defined",
    ),
    "beside anyOf": (
        {"tools": taking({"anyOf": [{"type": "STRING"}], "description": "x"})},
        "alongside any_of",
    ),
    "deep": (
        {"tools": taking({"anyOf": [{"type": "ARRAY", "items": {"type": "INT"}}]})},
        "any_of[0].items.type",
    ),
    "bad property": (
        {
            "tools": functions(
                {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a b": {}}}}
            )
        },
        "invalid property name",
    ),
}


@pytest.mark.parametrize(("change", "reason"), SETUPS.values(), ids=SETUPS.keys())
async def test_a_setup_that_the_model_does_not_take(change: dict[str, Any], reason: str) -> None:
    async with GeminiSimulator(refusals=["1007"]) as service, bare(service) as socket:
        await socket.send(setup(**change))
        code, said = await socket.closed()
        assert code == 1007
        assert service.connections[0].refused is not None
        # The wire's reason is cut off at 123 bytes.
        assert service.connections[0].refused[1].startswith(said)
        assert reason in service.connections[0].refused[1]


OTHER_MODELS = [
    ("gemini-3.8-live-extended-thinking", {}, "Thinking level is required"),
    (
        "gemini-3.8-live-extended-thinking",
        {
            "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}},
            "tools": functions({"name": "f", "behavior": "BLOCKING"}),
        },
        "BLOCKING is not supported",
    ),
    (
        "gemini-3.1-flash-live-preview",
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        "Thinking budget",
    ),
    (
        "gemini-3.1-flash-live-preview",
        {"tools": functions({"name": "f", "behavior": "NON_BLOCKING"})},
        "NON_BLOCKING is not supported",
    ),
]


@pytest.mark.parametrize(("model", "change", "reason"), OTHER_MODELS)
async def test_each_model_has_rules_of_its_own(
    model: str, change: dict[str, Any], reason: str
) -> None:
    async with GeminiSimulator(refusals=[f"1007 .*{reason}"]) as service, bare(service) as socket:
        await socket.send(setup(model=f"models/{model}", **change))
        assert (await socket.closed())[0] == 1007


ACCEPTED: list[dict[str, Any]] = [
    {},
    {"proactivity": {"proactive_audio": True}},
    {"context_window_compression": {"trigger_tokens": "9", "sliding_window": {}}},
    {"tools": [{"google_search": {}}, *functions(LIGHT)]},
    {"tools": taking({"any_of": [{"type": "STRING", "min_length": 1}, {"type": "INTEGER"}]})},
    {"tools": taking({"type": "OBJECT", "properties": {"any_of": {"type": "STRING"}}})},
    {"input_audio_transcription": {"language_codes": ["en-GB"], "custom_vocabulary": ["Ada"]}},
]


@pytest.mark.parametrize("change", ACCEPTED)
async def test_either_casing_is_accepted(change: dict[str, Any]) -> None:
    async with GeminiSimulator() as service, bare_session(service, **change):
        assert service.connections[0].setup is not None


async def test_functions_that_do_not_say_whether_they_block_are_counted() -> None:
    tools = functions(LIGHT, {"name": "f"})
    async with GeminiSimulator() as service, bare_session(service, tools=tools):
        assert service.connections[0].setup is not None
        assert service.connections[0].setup.without_behavior == 1


TALKS: dict[str, tuple[Sequence[Any], str]] = {
    "start twice": ([START, START], "activity_start while"),
    "end alone": ([END], "activity_end without"),
    "stream end": ([{"realtimeInput": {"audioStreamEnd": True}}], "audio_stream_end"),
    "media": ([{"realtimeInput": {"mediaChunks": []}}], 'Unknown name "mediaChunks"'),
    "mime": ([START, audio(b"ab", "audio/pcm;rate=48000")], "Unsupported audio"),
    "odd": ([START, audio(b"abc")], "no 16-bit sound"),
    "base64": ([START, {"realtimeInput": {"audio": {"data": "?"}}}], "Unsupported audio"),
    "setup again": ([setup()], 'Unknown name "setup"'),
    "two at once": ([{**START, **typed("x")}], "Exactly one"),
    "not asked for": (
        [{"toolResponse": {"functionResponses": [{"id": "x", "name": "f", "response": {}}]}}],
        "No function call has the id",
    ),
    "no id": (
        [{"toolResponse": {"functionResponses": [{"name": "f", "response": {}}]}}],
        "No function call has the id",
    ),
    "typed while speaking": ([START, typed("x")], "while an activity is open"),
    "no JSON": (["{"], "invalid argument"),
}


@pytest.mark.parametrize(("messages", "reason"), TALKS.values(), ids=TALKS.keys())
async def test_a_message_that_breaks_the_protocol(messages: Sequence[Any], reason: str) -> None:
    turn = Turn("audio", cut=None)
    async with (
        GeminiSimulator([turn], refusals=[f"1007 .*{reason}"], check=False) as service,
        bare_session(service) as socket,
    ):
        for message in messages:
            await socket.send(message)
        assert (await socket.closed())[0] == 1007
        assert service.failures == []


def answer(id_: str, **more: Any) -> dict[str, Any]:
    response = {"id": id_, "name": "HassTurnOn", "response": {"status": "ok"}, **more}
    return {"toolResponse": {"functionResponses": [response]}}


ANSWERS: dict[str, tuple[str, Sequence[Any], str]] = {
    "twice": ("gemini-3.8-live", [answer("c"), answer("c")], "is answered already"),
    "name": ("gemini-3.8-live", [answer("c", name="f")], "is of HassTurnOn"),
    "no object": ("gemini-3.8-live", [answer("c", response="ok")], "must be an object"),
    "continues": ("gemini-3.8-live", [answer("c", willContinue=True)], "NON_BLOCKING functions"),
    "scheduling": (
        "gemini-3.1-flash-live-preview",
        [answer("c", scheduling="WHEN_IDLE")],
        "Function response scheduling is not supported",
    ),
    "cancelled": ("gemini-3.8-live", [START, answer("c")], "is cancelled already"),
}


@pytest.mark.parametrize(("model", "messages", "reason"), ANSWERS.values(), ids=ANSWERS.keys())
async def test_an_answer_that_is_not_taken(
    model: str, messages: Sequence[Any], reason: str
) -> None:
    turns = [Turn("text", [Call("HassTurnOn", id="c"), Stall()], cut=None), Turn("audio", cut=None)]
    async with (
        GeminiSimulator(turns, refusals=[f"1007 .*{reason}"], check=False) as service,
        bare_session(service, model=f"models/{model}") as socket,
    ):
        await socket.send(typed("on"))
        assert "toolCall" in await socket.receive()
        for message in messages:
            await socket.send(message)
        assert (await socket.closed())[0] == 1007
        assert service.failures == []


async def test_only_some_models_take_a_context_update() -> None:
    model = "models/gemini-3.1-flash-live-preview"
    update: dict[str, Any] = {"contextUpdate": {"tools": {"tools": []}}}
    async with (
        GeminiSimulator(refusals=["1007 Context update"]) as service,
        bare_session(service, model=model) as socket,
    ):
        await socket.send(update)
        assert (await socket.closed())[0] == 1007


async def test_the_first_message_must_be_setup() -> None:
    async with GeminiSimulator(refusals=["1007"]) as service, bare(service) as socket:
        await socket.send(START)
        assert await socket.closed() == (1007, "The first message must be setup.")


async def test_the_client_waits_for_setup_complete() -> None:
    opening = Opening(silent=True)
    async with (
        GeminiSimulator(openings=[opening], refusals=["1007 .*must wait"]) as service,
        bare(service) as socket,
    ):
        await socket.send(setup())
        await socket.send(START)
        assert (await socket.closed())[0] == 1007


@pytest.mark.parametrize("model", ["gemini-9", "gemini-3.8-flash"])
async def test_an_unknown_model(model: str) -> None:
    async with GeminiSimulator(refusals=["1008"]) as service, bare(service) as socket:
        await socket.send(setup(model=f"models/{model}"))
        code, reason = await socket.closed()
        assert code == 1008
        assert reason.startswith(f"models/{model} is not found for API version v1beta")


async def test_a_retired_model_is_the_tests_own_doing() -> None:
    async with GeminiSimulator(retired=["gemini-3.8-live"]) as service, bare(service) as socket:
        await socket.send(setup())
        assert (await socket.closed())[0] == 1008


async def test_an_unknown_handle() -> None:
    async with GeminiSimulator(refusals=["1008"]) as service, bare(service) as socket:
        await socket.send(setup(sessionResumption={"handle": "of another day"}))
        assert await socket.closed() == (1008, "BidiGenerateContent session not found")


@pytest.mark.parametrize("by", ["expiry", "opening"])
async def test_a_handle_that_the_test_takes_away(by: str) -> None:
    openings = [Opening(), Opening(refuse_handle=by == "opening")]
    handle = ""
    async with GeminiSimulator(openings=openings) as service:
        async with bare_session(service, sessionResumption={}) as socket:
            handle = (await socket.receive())["sessionResumptionUpdate"]["newHandle"]
        if by == "expiry":
            service.expire_handles()
        async with bare(service) as socket:
            await socket.send(setup(sessionResumption={"handle": handle}))
            assert (await socket.closed())[0] == 1008


OPENINGS = [
    (Opening(refuse=(1011, "You exceeded your current quota")), 1011),
    (Opening(drop=True), 1006),
]


@pytest.mark.parametrize(("opening", "code"), OPENINGS)
async def test_a_setup_that_ends_as_scripted(opening: Opening, code: int) -> None:
    async with GeminiSimulator(openings=[opening]) as service, bare(service) as socket:
        await socket.send(setup())
        assert (await socket.closed())[0] == code


async def test_a_wrong_key_is_told_after_the_upgrade() -> None:
    async with (
        GeminiSimulator(refusals=["1007 API key"]) as service,
        bare(service, key="wrong") as socket,
    ):
        await socket.send(setup())
        assert (await socket.closed())[1] == "API key not valid. Please pass a valid API key."


UPGRADES: list[tuple[dict[str, Any], Opening, str, int]] = [
    ({"path": PATH.replace("v1beta", "v1")}, Opening(), "404", 404),
    ({}, Opening(http_status=503), "", 503),
]


@pytest.mark.parametrize(("options", "opening", "refusal", "status"), UPGRADES)
async def test_an_upgrade_that_is_refused(
    options: dict[str, Any], opening: Opening, refusal: str, status: int
) -> None:
    async with GeminiSimulator(opening=opening, refusals=[refusal] if refusal else []) as service:
        with pytest.raises(websockets.InvalidStatus) as caught:
            async with bare(service, **options):
                pass
        assert caught.value.response.status_code == status


async def test_the_key_never_comes_in_the_address() -> None:
    async with GeminiSimulator(check=False) as service:
        async with bare(service, path=f"{PATH}?key={service.key}"):
            pass
        assert service.failures == ["the key came in the address"]


async def test_a_context_update_of_functions_is_checked() -> None:
    tools = {"tools": functions({"name": "1bad"})}
    async with (
        GeminiSimulator(refusals=["1007 .*Invalid function name"]) as service,
        bare_session(service) as socket,
    ):
        await socket.send({"contextUpdate": {"tools": tools}})
        assert (await socket.closed())[0] == 1007


async def test_a_typed_turn_needs_its_end() -> None:
    """Content that is not complete is context, and begins no turn."""
    content = typed("By the way.")
    content["clientContent"]["turnComplete"] = False
    async with (
        GeminiSimulator([Turn("text", [Done()])]) as service,
        bare_session(service) as socket,
    ):
        await socket.send(content)
        await socket.send(typed("Hello."))
        await socket.receive()
        assert [turn.text for turn in service.turns] == ["Hello."]
        assert service.connections[0].contents[0] == ("user", "By the way.", False)
