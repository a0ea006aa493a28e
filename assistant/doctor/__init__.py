"""Checks of the box, the house and the cloud; begin with `whole`, which lists them."""
