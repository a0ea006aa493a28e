"""The instruction, tools and vocabulary that a cloud model receives before a turn.

Start reading at `prompt`, which writes the instruction.
"""
