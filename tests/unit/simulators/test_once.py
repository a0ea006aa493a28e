"""The real google-genai client meets the simulated generateContent."""

import io
import wave
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    Blocked,
    Call,
    CallTogether,
    Done,
    Drop,
    Gate,
    HttpError,
    Inner,
    OnceTurn,
    Say,
    Stall,
    Step,
    Tokens,
    Used,
)
from tests.unit.simulators.client import LIGHT, real_client

MODEL = "gemini-3.8-flash"
SOUND = bytes(range(256)) * 4
TOOL = {key: value for key, value in LIGHT.items() if key != "behavior"}


def wav(pcm: bytes, rate: int = 16_000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, rate, 0, "NONE", ""))
        writer.writeframes(pcm)
    return file.getvalue()


def asked(*parts: types.Part) -> list[types.Content]:
    sound = types.Part.from_bytes(data=wav(SOUND), mime_type="audio/wav")
    return [types.Content(role="user", parts=[*(parts or (sound,))])]


def config(**changes: Any) -> types.GenerateContentConfig:
    usual = {
        "system_instruction": "Be brief.",
        "tools": [{"function_declarations": [TOOL]}],
        "automatic_function_calling": {"disable": True},
        "thinking_config": {"thinking_level": "LOW"},
    }
    return types.GenerateContentConfig.model_validate({**usual, **changes})


async def stream(
    client: genai.Client, contents: Sequence[types.Content], model: str = MODEL, **changes: Any
) -> AsyncIterator[types.GenerateContentResponse]:
    chunks = await client.aio.models.generate_content_stream(
        model=model, contents=list(contents), config=config(**changes)
    )
    async for chunk in chunks:
        yield chunk


async def collect(
    client: genai.Client, contents: Sequence[types.Content], **changes: Any
) -> list[types.GenerateContentResponse]:
    return [chunk async for chunk in stream(client, contents, **changes)]


def text(chunks: Sequence[types.GenerateContentResponse]) -> str:
    return "".join(chunk.text or "" for chunk in chunks)


def content(chunks: Sequence[types.GenerateContentResponse]) -> types.Content:
    """The model's content as history wants it: with all parts as they came."""
    candidates = [candidate for chunk in chunks for candidate in chunk.candidates or []]
    contents = [one.content for one in candidates if one.content]
    parts = [part for one in contents for part in one.parts or []]
    return types.Content(role="model", parts=[part for part in parts if part.function_call])


def answers(model: types.Content, **response: Any) -> types.Content:
    calls = [part.function_call for part in model.parts or [] if part.function_call]
    responses = [
        types.Part(
            function_response=types.FunctionResponse(id=call.id, name=call.name, response=response)
        )
        for call in calls
    ]
    return types.Content(role="user", parts=responses)


async def test_a_sentence_of_sound_is_answered() -> None:
    usage = Tokens(prompt=50, response=7)
    steps = [Inner("hm", thought=True), Say("It is five."), Done(usage=usage)]
    async with GeminiSimulator(once=[OnceTurn(steps)]) as service, real_client(service) as client:
        chunks = await collect(client, asked())
        assert text(chunks) == "It is five."
        used = chunks[-1].usage_metadata
        assert used is not None
        assert (used.prompt_token_count, used.candidates_token_count) == (50, 7)
        request = service.once_requests[0]
        assert request.audio == SOUND
        assert request.instruction == "Be brief."
        assert request.functions == ("HassTurnOn",)
        assert request.thinking_level == "LOW"


async def test_calls_are_answered_with_their_signature() -> None:
    calls = CallTogether(
        Call("HassTurnOn", {"name": "a_b"}, answer={"status": "ok"}), Call("HassTurnOn")
    )
    steps = [Used(Tokens(prompt=9)), calls, Say("Both are on."), Done()]
    async with GeminiSimulator(once=[OnceTurn(steps)]) as service, real_client(service) as client:
        first = await collect(client, asked())
        model = content(first)
        second = await collect(client, [*asked(), model, answers(model, status="ok")])
        assert text(second) == "Both are on."
        assert [one["response"] for one in service.once_requests[1].responses] == [
            {"status": "ok"},
            {"status": "ok"},
        ]


async def test_a_lost_signature_is_refused() -> None:
    turn = OnceTurn([Call("HassTurnOn"), Done()], cut=None)
    async with (
        GeminiSimulator(once=[turn], refusals=["400 .*thought_signature"]) as service,
        real_client(service) as client,
    ):
        model = content(await collect(client, asked()))
        assert model.parts is not None
        model.parts[0].thought_signature = None
        with pytest.raises(errors.ClientError) as caught:
            await collect(client, [*asked(), model, answers(model)])
        assert caught.value.code == 400


def without_id(content: types.Content) -> types.Content:
    assert content.parts is not None
    assert content.parts[0].function_response is not None
    content.parts[0].function_response.id = None
    return content


async def test_an_answer_without_its_id_is_refused() -> None:
    turn = OnceTurn([Call("HassTurnOn"), Done()], cut=None)
    async with (
        GeminiSimulator(once=[turn], refusals=["400 The response None"]) as service,
        real_client(service) as client,
    ):
        model = content(await collect(client, asked()))
        with pytest.raises(errors.ClientError):
            await collect(client, [*asked(), model, without_id(answers(model))])


async def test_one_answer_too_few_is_refused() -> None:
    turn = OnceTurn([CallTogether(Call("HassTurnOn"), Call("HassTurnOn")), Done()], cut=None)
    async with (
        GeminiSimulator(once=[turn], refusals=["400 .*number of function response"]) as service,
        real_client(service) as client,
    ):
        model = content(await collect(client, asked()))
        given = answers(model)
        assert given.parts is not None
        given.parts.pop()
        with pytest.raises(errors.ClientError):
            await collect(client, [*asked(), model, given])


ERRORS = [(429, "RESOURCE_EXHAUSTED"), (404, "NOT_FOUND"), (400, "INVALID_ARGUMENT")]


@pytest.mark.parametrize(("status", "name"), [*ERRORS, (503, "UNAVAILABLE")])
async def test_an_error_and_then_the_same_request_again(status: int, name: str) -> None:
    turn = OnceTurn([HttpError(status), Say("Yes."), Done()])
    async with GeminiSimulator(once=[turn]) as service, real_client(service) as client:
        with pytest.raises(errors.APIError) as caught:
            await collect(client, asked())
        assert (caught.value.code, caught.value.status) == (status, name)
        assert text(await collect(client, asked())) == "Yes."


async def test_an_error_amid_the_answer() -> None:
    turn = OnceTurn([Say("Well"), HttpError(503)])
    async with GeminiSimulator(once=[turn]) as service, real_client(service) as client:
        with pytest.raises(errors.APIError) as caught:
            await collect(client, asked())
        assert caught.value.code == 503


async def test_the_connection_breaks_amid_the_answer() -> None:
    turn = OnceTurn([Say("Well"), Drop()])
    async with GeminiSimulator(once=[turn]) as service, real_client(service) as client:
        with pytest.raises(httpx2.HTTPError):
            await collect(client, asked())


async def test_a_blocked_prompt_and_a_blocked_answer() -> None:
    turns = [OnceTurn([Blocked("SAFETY")]), OnceTurn([Say("Well"), Done(reason="SAFETY")])]
    async with GeminiSimulator(once=turns) as service, real_client(service) as client:
        (blocked,) = await collect(client, asked())
        assert blocked.prompt_feedback is not None
        assert blocked.prompt_feedback.block_reason == "SAFETY"
        answer = await collect(client, asked())
        assert answer[-1].candidates is not None
        assert answer[-1].candidates[0].finish_reason == "SAFETY"


async def test_an_answer_that_the_client_gives_up() -> None:
    gate = Gate()
    turns = [OnceTurn([Say("Well"), Stall()]), OnceTurn([Stall(until=gate), Say("Yes."), Done()])]
    async with GeminiSimulator(once=turns) as service:
        async with real_client(service) as client:
            chunks = stream(client, asked())
            assert (await anext(chunks)).text == "Well"
        gate.open()
        async with real_client(service) as client:
            assert text(await collect(client, asked())) == "Yes."


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"thinking_config": {"thinking_level": "MINIMAL"}}, "400 Thinking level MINIMAL"),
    ({"thinking_config": {"thinking_budget": 0}}, "400 Thinking budget"),
    ({"tools": [{"function_declarations": [LIGHT]}]}, '400 .*Unknown name "behavior"'),
    (
        {"tools": [{"function_declarations": [TOOL]}, {"google_search": {}}]},
        "400 Tool use with function calling",
    ),
    ({"model": "gemini-9"}, "404 models/gemini-9"),
    ({"model": "gemini-3.8-live"}, "404 models/gemini-3.8-live"),
]


@pytest.mark.parametrize(("changes", "refusal"), REFUSED)
async def test_a_request_that_the_model_does_not_take(
    changes: dict[str, Any], refusal: str
) -> None:
    async with GeminiSimulator(refusals=[refusal]) as service, real_client(service) as client:
        with pytest.raises(errors.ClientError):
            await collect(client, asked(), **changes)


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"RIFF", "audio/wav"),
        (wav(SOUND, 48_000), "audio/wav"),
        (wav(b""), "audio/wav"),
        (wav(SOUND), "audio/mp3"),
    ],
)
async def test_sound_that_it_cannot_read(data: bytes, mime: str) -> None:
    part = types.Part.from_bytes(data=data, mime_type=mime)
    async with (
        GeminiSimulator(refusals=["400 inline|400 contents"]) as service,
        real_client(service) as client,
    ):
        with pytest.raises(errors.ClientError):
            await collect(client, asked(part))


async def test_a_wrong_key() -> None:
    async with GeminiSimulator(refusals=["400 API key not valid"]) as service:
        key, service.key = service.key, "wrong"
        async with real_client(service) as client:
            service.key = key
            with pytest.raises(errors.ClientError) as caught:
                await collect(client, asked())
        assert caught.value.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"


async def test_requests_beyond_the_script_are_answered_by_the_default() -> None:
    def respond(request: Any) -> list[Step]:
        return [Say(request.texts[0]), Done()]

    async with GeminiSimulator(respond_once=respond) as service, real_client(service) as client:
        for said in ("one", "two"):
            assert text(await collect(client, asked(types.Part(text=said)))) == said


async def test_a_request_that_was_not_scripted() -> None:
    async with GeminiSimulator(check=False) as service, real_client(service) as client:
        with pytest.raises(errors.ServerError):
            await collect(client, asked())
        assert service.failures == ["unexpected REST request: no more turns are scripted"]


async def test_a_turn_that_is_left_amid_its_calls() -> None:
    with pytest.raises(AssertionError, match="never came to"):
        async with (
            GeminiSimulator(once=[OnceTurn([Call("HassTurnOn"), Done()])]) as service,
            real_client(service) as client,
        ):
            await collect(client, asked())


async def test_models_are_described_and_listed_in_pages() -> None:
    retired = GeminiSimulator(retired=["gemini-3.1-flash-live-preview"])
    async with retired as service, real_client(service) as client:
        models = client.aio.models
        pages = await models.list(config={"page_size": 2})
        named = {model.name: model.supported_actions async for model in pages}
        assert named["models/gemini-3.8-live"] == ["bidiGenerateContent"]
        assert "models/gemini-3.1-flash-live-preview" not in named
        assert (await models.get(model="gemini-3.8-live")).name == "models/gemini-3.8-live"
        with pytest.raises(errors.ClientError, match="is not found"):
            await models.get(model="gemini-3.1-flash-live-preview")


async def test_every_plain_request_can_be_refused() -> None:
    refusal = (403, "Requests to this API are blocked.", "API_KEY_SERVICE_BLOCKED")
    async with GeminiSimulator(rest_refusal=refusal) as service, real_client(service) as client:
        models = client.aio.models
        for request in (models.list(), models.get(model="gemini-3.8-live")):
            with pytest.raises(errors.ClientError, match="are blocked"):
                await request
