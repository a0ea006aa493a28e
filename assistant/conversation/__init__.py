"""One conversation: from the wake word to the last word of the answer.

Begin with `runner` (the loop), `machine` (the pure rules that it asks) and `live` (one turn). `ear`
and `listening` hear, `ending` and `house_ending` decide that a sentence is over, `calls` runs
tools, `reply` and `sounded` speak, `confirming` asks. Turns of programs begin in `for_programs`,
their questions in `program_questions`.
"""
