"""The person's own yes to a gated call: asked, heard and judged outside of every model."""
