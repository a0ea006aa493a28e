"""One conversation: from the wake word to the last word of the answer.

Begin with `loop`, which takes events, asks `rules` (pure) and has `effect_runner` do what they say,
and with `turn`. `hearing` and `audio_front_end` hear, `endpointing` decides that a sentence is
over, `thinking` asks the brain, `tool_calls` runs tools, `spoken_reply` speaks, `confirming` asks
for a yes. Turns of programs begin in `program_turns`, their questions in `program_questions`.
"""
