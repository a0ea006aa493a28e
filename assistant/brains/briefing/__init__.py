"""The instruction, tools and vocabulary that a cloud model receives before a turn.

Start reading at `prompt`, which writes the instruction. `briefer` collects the facts for it, and
`home_text` shortens Home Assistant's text about the home.
"""
