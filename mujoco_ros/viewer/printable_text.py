"""Texts of other programs, as they can be displayed."""


def printable(text: str, *, keep: str = "") -> str:
    """Return a text whose characters are printable or in `keep`; the others are replaced.

    Dear ImGui would break a line at some of them.
    """
    return "".join(
        it if it.isprintable() or it in keep else "\N{REPLACEMENT CHARACTER}" for it in text
    )
