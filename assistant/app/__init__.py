"""The composition root: what one process is made of, and for how long.

Begin with `build` (everything that a conversation needs, in order) and `daemon` (`hearth run`).
`home` opens the store and Home Assistant, `brains` the brains, `works` background work and the
built-in tools, `services` what only the daemon has, `faces` the interfaces.
"""
