"""What happens between hearing and speaking. Stands on `audio` and `integrations`."""
