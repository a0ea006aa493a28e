"""One conversation: from the wake word to the last word of the answer.

Begin with `runner` (the loop), `machine` (the pure rules that it asks) and `live` (one turn).
`audio_front_end` and `listening` hear, `endpointing` and `grammar_endpointer` decide that a
sentence is over, `calls` runs tools, `reply` speaks, `confirming` asks. Turns of
programs begin in `program_turns`, their questions in `program_questions`.
"""
