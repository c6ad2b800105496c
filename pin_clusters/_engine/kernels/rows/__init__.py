"""Many states, in rows."""
