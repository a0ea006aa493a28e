"""How well sentences go through the embedded house: what they must lead to, and what came."""
