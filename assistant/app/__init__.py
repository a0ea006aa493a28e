"""Composition root: builds the parts of one process and manages their lifetimes. Start with `build`
(everything that a conversation needs, in order) and `daemon`, which is `hearth run`."""
