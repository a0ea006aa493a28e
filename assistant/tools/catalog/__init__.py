"""The tools that a model is offered, and the arguments of its calls. Start with `menu`."""
