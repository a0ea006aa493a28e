"""The real google-genai client meets the simulated Live API: what each step looks like to it."""

import asyncio

import pytest
from google import genai
from google.genai import errors, types

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    Call,
    CallTogether,
    Cancel,
    Close,
    Done,
    Drop,
    Gate,
    GoAway,
    Hear,
    Inner,
    Opening,
    Phantom,
    Say,
    Stall,
    Think,
    Tokens,
    Turn,
    Wait,
)
from tests.unit.simulators.client import (
    ask,
    live_config,
    real_client,
    real_session,
    reply,
    speak,
    transcript,
)

MODEL = "gemini-3.8-live"
SPEECH = bytes(range(256)) * 100  # 0.8 s; every alphabet of base64 occurs


async def answer(session: object, call: types.FunctionCall, **response: object) -> None:
    """Give one function's result."""
    assert hasattr(session, "send_tool_response")
    await session.send_tool_response(
        function_responses=types.FunctionResponse(id=call.id, name=call.name, response=response)
    )


async def test_a_typed_turn() -> None:
    async with (
        GeminiSimulator([Turn("text", [Say("It is five."), Done()])]) as service,
        real_session(service) as session,
    ):
        await ask(session, "What time is it?")
        assert transcript(await reply(session)) == "It is five."
        assert service.turns[0].text == "What time is it?"


async def test_a_spoken_turn_is_heard_bit_for_bit() -> None:
    steps = [Hear("turn it on", language="en-GB"), Say("It is on."), Done()]
    async with GeminiSimulator([Turn("audio", steps)]) as service, real_session(service) as session:
        await speak(session, SPEECH)
        messages = await reply(session)
        contents = [message.server_content for message in messages if message.server_content]
        heard = next(one.input_transcription for one in contents if one.input_transcription)
        assert (heard.text, heard.language_code) == ("turn it on", "en-GB")
        sound = b"".join(message.data or b"" for message in messages)
        turn = service.turns[0]
        assert sound == turn.reply_pcm
        assert turn.pcm == SPEECH
        assert turn.assert_heard(b"\1\0" * 50 + SPEECH + b"\2\0").start == 50


async def test_parallel_calls_are_awaited_together() -> None:
    calls = CallTogether(
        Call("HassTurnOn", {"name": "a_b"}, answer={"status": "ok"}),
        Call("HassTurnOn", {"name": "c"}, answer=lambda response: response["status"] == "ok"),
    )
    async with (
        GeminiSimulator([Turn("text", [calls, Say("Both are on."), Done()])]) as service,
        real_session(service) as session,
    ):
        await ask(session, "both")
        message = await anext(session.receive())
        while not message.tool_call:
            message = await anext(session.receive())
        asked = message.tool_call.function_calls or []
        assert [call.args for call in asked] == [{"name": "a_b"}, {"name": "c"}]
        for call in asked:
            await answer(session, call, status="ok")
        assert transcript(await reply(session)) == "Both are on."
        assert [call.status for call in service.turns[0].calls] == ["answered", "answered"]


async def test_new_input_cancels_a_blocking_call_and_interrupts() -> None:
    turns = [
        Turn("text", [Call("HassTurnOn"), Say("On."), Done()], cut=True),
        Turn("audio", [Say("Yes?"), Done()]),
    ]
    async with GeminiSimulator(turns, handles=False) as service, real_session(service) as session:
        await ask(session, "on")
        assert (await anext(session.receive())).tool_call
        await session.send_realtime_input(activity_start=types.ActivityStart())
        messages = await reply(session)
        cancelled = messages[0].tool_call_cancellation
        assert cancelled is not None
        assert cancelled.ids == [service.turns[0].calls[0].id]
        assert messages[1].server_content is not None
        assert messages[1].server_content.interrupted
        assert service.turns[0].cut == "by new input"
        await session.send_realtime_input(activity_end=types.ActivityEnd())
        assert transcript(await reply(session)) == "Yes?"


async def test_a_call_goes_on_where_new_input_does_not_cancel() -> None:
    turns = [
        Turn("text", [Call("HassTurnOn"), Say("On."), Done()]),
        Turn("audio", [Say("Yes?"), Done()]),
    ]
    async with (
        GeminiSimulator(turns, handles=False, cancels_blocking=False) as service,
        real_session(service) as session,
    ):
        await ask(session, "on")
        call = (await anext(session.receive())).tool_call
        assert call is not None
        assert call.function_calls is not None
        await speak(session, SPEECH)
        assert transcript(await reply(session)) == "Yes?"
        await answer(session, call.function_calls[0], status="ok")
        assert transcript(await reply(session)) == "On."


async def test_the_service_takes_a_call_back() -> None:
    steps = [Call("HassTurnOn", id="c-9", wait=False), Cancel("c-9"), Say("Never mind."), Done()]
    async with (
        GeminiSimulator([Turn("text", steps)], handles=False) as service,
        real_session(service) as session,
    ):
        await ask(session, "on")
        messages = await reply(session)
        cancelled = messages[1].tool_call_cancellation
        assert cancelled is not None
        assert cancelled.ids == ["c-9"]


async def test_a_transcript_may_lag_behind_the_end_of_the_turn() -> None:
    late = Say("Too late.", audio_s=0.1, lag_s=0.05)
    async with (
        GeminiSimulator([Turn("text", [late, Done(waits_for_text=False)])]) as service,
        real_session(service) as session,
    ):
        await ask(session, "hello")
        assert transcript(await reply(session)) == ""
        async with asyncio.timeout(20):
            async for message in session.receive():
                if transcript([message]):
                    break
        assert transcript([message]) == "Too late."


async def test_the_end_of_a_turn_waits_for_a_lagging_transcript() -> None:
    late = Say("Just in time.", audio_s=0.1, lag_s=0.05)
    async with (
        GeminiSimulator([Turn("text", [late, Done()])]) as service,
        real_session(service) as session,
    ):
        await ask(session, "hello")
        assert transcript(await reply(session)) == "Just in time."


async def test_inner_text_phantoms_and_usage() -> None:
    usage = Tokens(prompt=90, response=10, thoughts=5, prompt_details={"AUDIO": 80})
    steps = [Inner("hm", thought=True), Phantom("HassTurnOn"), Say("Yes."), Done(usage=usage)]
    async with (
        GeminiSimulator([Turn("text", steps)], handles=False) as service,
        real_session(service) as session,
    ):
        await ask(session, "hello")
        messages = await reply(session)
        thought = messages[0].server_content
        assert thought is not None
        assert thought.model_turn is not None
        assert thought.model_turn.parts is not None
        assert thought.model_turn.parts[0].thought
        assert messages[1].data is None
        assert transcript(messages) == "HassTurnOnYes."
        used = messages[-1].usage_metadata
        assert used is not None
        assert (used.prompt_token_count, used.total_token_count) == (90, 105)
        assert used.prompt_tokens_details is not None
        assert used.prompt_tokens_details[0].modality == "AUDIO"


async def test_an_interaction_in_progress_goes_on_by_itself() -> None:
    steps = [Say("One moment."), Done(status="IN_PROGRESS"), Say("Done."), Done(status="IDLE")]
    async with GeminiSimulator([Turn("text", steps)]) as service, real_session(service) as session:
        await ask(session, "hello")
        assert transcript(await reply(session)) == "One moment.Done."


async def test_a_blocked_and_empty_turn() -> None:
    steps = [Done(reason="PROHIBITED_INPUT_CONTENT", generation=False)]
    async with (
        GeminiSimulator([Turn("text", steps)], handles=False) as service,
        real_session(service) as session,
    ):
        await ask(session, "hello")
        (message,) = await reply(session)
        assert message.server_content is not None
        assert message.server_content.turn_complete_reason == "PROHIBITED_INPUT_CONTENT"


async def test_think_time_counts_from_the_end_of_the_input() -> None:
    steps = [Think(0.05), Say("Yes."), Done()]
    async with GeminiSimulator([Turn("audio", steps)]) as service, real_session(service) as session:
        await speak(session, SPEECH)
        await reply(session)
        turn = service.turns[0]
        assert turn.replied_at is not None
        assert turn.ended_at is not None
        assert turn.replied_at - turn.ended_at >= 0.049


async def test_a_gate_holds_the_reply_back() -> None:
    gate = Gate()
    async with (
        GeminiSimulator([Turn("text", [Stall(until=gate), Say("Yes."), Done()])]) as service,
        real_session(service) as session,
    ):
        await ask(session, "hello")
        await service.until(lambda: len(service.turns) == 1)
        assert service.turns[0].replied_at is None
        gate.open()
        assert transcript(await reply(session)) == "Yes."


@pytest.mark.parametrize(
    ("ending", "code"), [(Drop(), 1006), (Close(1011, "Internal error encountered."), 1011)]
)
async def test_the_connection_ends_amid_a_reply(ending: Drop | Close, code: int) -> None:
    async with (
        GeminiSimulator([Turn("text", [Say("I"), Wait(0.05), ending])]) as service,
        real_session(service) as session,
    ):
        await ask(session, "hello")
        with pytest.raises(errors.APIError) as caught:
            await reply(session)
        assert caught.value.code == code
        await service.until(lambda: service.open_sockets == 0)
        assert service.turns[0].cut == ""


async def test_it_drops_while_the_person_speaks() -> None:
    turn = Turn("audio", during=[Hear("turn"), Drop()], cut=None)
    async with GeminiSimulator([turn]) as service, real_session(service) as session:
        await session.send_realtime_input(activity_start=types.ActivityStart())
        with pytest.raises(errors.APIError):
            await reply(session)
        assert service.turns[0].cut == "by the end of the connection"


async def test_a_handle_resumes_the_same_session() -> None:
    turns = [Turn("text", [Say("Hello."), Done()]), Turn("text", [Say("Again."), Done()])]
    async with GeminiSimulator(turns) as service:
        async with real_session(service) as session:
            await ask(session, "one")
            await reply(session)
            update = None
            async with asyncio.timeout(20):
                async for message in session.receive():
                    update = message.session_resumption_update
                    break
            assert update is not None
            assert update.resumable
        async with real_session(service, session_resumption={"handle": update.new_handle}) as again:
            await ask(again, "two")
            await reply(again)
        first, second = service.connections
        assert second.resumed
        assert first.session == second.session
        assert service.sessions[first.session].history == [
            *("user: one", "model: Hello.", "user: two", "model: Again.")
        ]


async def test_no_handle_resumes_while_the_old_socket_is_open() -> None:
    async with (
        GeminiSimulator(refusals=["1011"]) as service,
        real_client(service) as client,
        real_session(service) as session,
    ):
        message = await anext(session.receive())
        assert message.session_resumption_update is not None
        handle = message.session_resumption_update.new_handle
        with pytest.raises(errors.APIError) as caught:
            async with client.aio.live.connect(
                model=MODEL, config=live_config(session_resumption={"handle": handle})
            ):
                pass
        assert caught.value.code == 1011


async def test_go_away_comes_when_the_test_says_so() -> None:
    opening = Opening(then=[GoAway(300)])
    async with GeminiSimulator(openings=[opening], handles=False) as service:
        async with real_session(service) as session:
            first = await anext(session.receive())
            service.connections[0].go_away(0.2)
            second = await anext(session.receive())
        assert first.go_away is not None
        assert first.go_away.time_left == "300s"
        assert second.go_away is not None
        assert second.go_away.time_left == "0.2s"


async def test_the_context_is_updated() -> None:
    async with (
        GeminiSimulator([Turn("text", [Done()])]) as service,
        real_session(service) as session,
    ):
        await session.send_context_update(system_instruction="Be kind.", tools=[])
        await ask(session, "hello")
        await reply(session)
        assert service.connections[0].updates[0]["tools"] == {"tools": []}


async def test_pings_are_answered_late() -> None:
    async with (
        GeminiSimulator([Turn("text", [Done()])], opening=Opening(pong_delay_s=0.1)) as service,
        real_client(service, ping_interval=0.02, ping_timeout=20) as client,
        client.aio.live.connect(model=MODEL, config=live_config()) as session,
    ):
        await service.until(lambda: service.connections[0].pings > 2)
        await ask(session, "hello")
        await reply(session)


async def test_a_dead_peer_never_answers_pings() -> None:
    async def talk(client: genai.Client) -> None:
        async with client.aio.live.connect(model=MODEL, config=live_config()) as session:
            await reply(session)

    async with (
        GeminiSimulator(opening=Opening(pong_delay_s=None), handles=False) as service,
        real_client(service, ping_interval=0.5, ping_timeout=0.5) as client,
    ):
        with pytest.raises(errors.APIError) as caught:
            await talk(client)
        assert caught.value.code in (1006, 1011)


async def test_transcripts_come_only_where_they_are_asked_for() -> None:
    steps = [Hear("hello"), Phantom("x"), Say("Yes.", audio_s=0.1), Done()]
    async with (
        GeminiSimulator([Turn("text", steps)], handles=False) as service,
        real_session(
            service, input_audio_transcription=None, output_audio_transcription=None
        ) as session,
    ):
        await ask(session, "hello")
        messages = await reply(session)
        assert transcript(messages) == ""
        assert len(messages) == 3  # sound, generationComplete, turnComplete
