"""The composition root: what one process is made of, and for how long.

Begin with `build` (everything that a conversation needs, in order) and `daemon` (`hearth run`).
`home` opens the store and Home Assistant, `brains` the brains, `background` jobs and the built-in
tools, `services` what only the daemon has, `interfaces` the ways in and out. `process` watches
the process itself.
"""
