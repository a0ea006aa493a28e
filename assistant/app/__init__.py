"""Composition root: builds the parts of one process and manages their lifetimes.

Start reading at `build` (everything that a conversation needs, in order) and `daemon`, which is
`hearth run`. `home` opens the store and Home Assistant, `brains` opens the brains, `services`
contains what only the daemon runs, and `interfaces` opens HTTP, MQTT and the other interfaces for
programs.
"""
