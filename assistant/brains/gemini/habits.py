"""Every time span of the Gemini Live brain, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveHabits:
    """How patient the brain is and how long it keeps things. Spans are in seconds."""

    # Sessions
    connect_s: float = 5.0  # from wanting a session to having one
    speculate_every_s: float = 30.0  # at most one connect on mere suspicion in this time
    unused_s: float = 10.0  # such a session that no turn followed is closed then
    warm_s: float = 180.0  # kept open after its last use
    fresh_after_s: float = 600.0  # a spell without a turn after which the talk is forgotten
    handle_s: float = 7_200.0  # Google's session page: valid 2 h after the session ended
    go_away_margin_s: float = 10.0  # left before the service's deadline, at the latest
    rotates: bool = True  # one that must be left is opened anew before anybody speaks
    back_off_s: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)  # after each failure on suspicion
    close_s: float = 2.0  # for closing a socket

    # Turns
    send_s: float = 5.0  # for one message to be taken by the socket
    first_event_s: float = 6.0  # from the end of the sentence to the first sign of an answer
    after_answer_s: float = 6.0  # from a tool's result to the next sign
    between_events_s: float = 10.0  # between two signs
    open_calls_s: float = 10.0  # a new sentence waits for the results of an older turn's calls
    late_text_s: float = 0.3  # after the end of a turn: its transcript may lag behind
    late_text_most_s: float = 1.0  # where more of it keeps coming
