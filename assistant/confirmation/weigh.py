"""The verdict on a question of ours, from the person's own words alone."""

from collections.abc import Sequence

from assistant.confirmation.forms import AnswerKind, Forms
from assistant.domain.question import Verdict

_ASSENT = frozenset({AnswerKind.YES, AnswerKind.ALWAYS})


def weigh(
    transcript: str | None,
    recognised: str | None,
    secure: bool,
    forms: Forms,
    things: Sequence[str],
    asked: str = "",
) -> tuple[Verdict, bool]:
    """What was answered, and whether "yes, always" (never where `secure`).

    `transcript`: of the microphone by the brain's service, or what was typed; `recognised`: by the
    device's recogniser, decoding freely. Each None where that source does not exist or was late.
    What a model says or claims belongs in neither. `things`, `asked`: as in `Forms.read`.
    Where `secure`, every source that there is must hear a yes; else the transcript decides if it
    has words. A no in either is a no. Nothing heard at all is "unclear": the caller knows silence.
    """
    heard = [text for text in (transcript, recognised) if text is not None]
    replies = [forms.read(text, things, asked) for text in heard]
    if AnswerKind.NO in replies:
        return "no", False
    if not replies:
        return "unclear", False
    spoken = [at for at, reply in enumerate(replies) if reply is not AnswerKind.NOTHING]
    leading = spoken[0] if spoken else 0
    if secure:
        if _ASSENT.issuperset(replies):
            return "yes", False
        if not _ASSENT.isdisjoint(replies):
            return "unclear", False
    elif replies[leading] in _ASSENT:
        return "yes", replies[leading] is AnswerKind.ALWAYS
    if replies[leading] is AnswerKind.OTHER and forms.is_command_like(
        heard[leading], things, asked
    ):
        return "new_command", False
    return "unclear", False
