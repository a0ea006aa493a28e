"""The assistant: everything between hearing and speaking. Built on `audio` and `integrations`."""
