"""Reading of recordings of robots from bags."""
