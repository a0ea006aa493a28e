"""The composition root: the parts of one process and their lifetimes.

Begin with `build` (everything that a conversation needs, in order) and `daemon` (`hearth run`).
`home` opens the store and Home Assistant, `brains` the brains, `tools` background work and the
built-in tools, `services` what only the daemon has, and `interfaces` the interfaces for programs.
`process` watches the process itself.
"""
