"""Numbers and small vectors: one state's, or those of a pack of states."""
