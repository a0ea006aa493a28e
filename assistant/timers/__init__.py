"""Timers of Hearth's own: kept in the store, rung by `hearth run` until somebody hears them."""
