"""Listening for as long as the process lives."""

from assistant.conversation.loop import ConversationLoop
from audio.steady import SteadyMicrophone


async def listen_for_ever(runner: ConversationLoop, microphone: SteadyMicrophone) -> None:
    """Hear a microphone that heals, and tell the conversation how it stands.

    Ends only by cancellation: a device that is missing or goes is no error.
    """
    microphone.on_change = runner.on_microphone
    await runner.listen(microphone)
