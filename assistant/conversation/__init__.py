"""The conversation: everything from the wake word to the end of the answer.

Begin with `loop`, which dispatches events, asks `rules` (pure functions) what follows and has
`effect_runner` carry it out, and with `turn`. `hearing` and `audio_front_end` take in sound,
`endpointing` decides when a sentence is over, `thinking` runs the brain, `tool_calls` runs tools,
`spoken_reply` speaks and `confirming` asks for confirmation. Turns started by programs are in
`program_turns`, questions asked by programs in `program_questions`; both wait in a `request_queue`.
"""
