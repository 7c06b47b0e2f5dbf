"""Errors of rendering."""


class RenderingError(RuntimeError):
    """An image cannot be rendered; the message gives the reason and a remedy."""
