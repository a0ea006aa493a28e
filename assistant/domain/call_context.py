"""What is known of the moment in which a call is asked for, beside the words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallContext:
    """Circumstances of one turn that the guards look at."""

    can_ask: bool = False  # whoever runs the call can ask the person, and settles what was asked
    spoken: bool = False  # the request was heard, not typed
    near_own_speech: bool = False  # it began while we spoke, or within 2 s after
    searched: bool = False  # the model's answer rests on a web search (search grounding)
    talk: str = ""  # the model's context, by the name that its brain gives it; "": a turn's own
    led_by: str = ""  # the program whose words the model was given beside the person's


CALM = CallContext()
