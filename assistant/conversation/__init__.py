"""The conversation: everything from the wake word to the end of the answer.

Start with `loop`, which dispatches events, gets the next state from `rules` (pure functions) and
lets `effect_runner` carry out the effects; then read `turn`. `hearing` and `audio_front_end`
process the microphone's audio, `endpointing` decides when a sentence is over, `thinking` runs the
brain, `tool_calls` runs tools, `spoken_reply` speaks and `confirming` asks for confirmation. Turns
that programs start are in `program_turns`, and questions that programs ask are in
`program_questions`; both wait in a `request_queue`.
"""
