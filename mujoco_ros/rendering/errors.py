"""What can go wrong with pictures."""


class RenderingError(RuntimeError):
    """No picture can be drawn; the message says why, and what would help."""
