"""The page that has control, and those that request it."""

from collections.abc import Hashable


class ControlSlot:
    """At most one page has control; the others get it in the order of their requests.

    Attributes:
        owner: The page in control; None while control is free.
        waiting: The pages that request control, the first one first.
    """

    def __init__(self) -> None:
        self.owner: Hashable | None = None
        self.waiting: list[Hashable] = []

    def take(self, page: Hashable) -> None:
        """Give control to a page if it is free."""
        if self.owner is None:
            self.owner = page

    def request(self, page: Hashable) -> None:
        """Give control to a page if it is free; else the page waits."""
        self.take(page)
        if page != self.owner and page not in self.waiting:
            self.waiting.append(page)

    def release(self, page: Hashable) -> None:
        """Withdraw the request of a page; if it has control, the first one that waits gets it."""
        if page in self.waiting:
            self.waiting.remove(page)
        if page == self.owner:
            self.owner = self.waiting.pop(0) if self.waiting else None

    def deny(self, page: Hashable) -> None:
        """Drop all requests, if the page has control."""
        if page == self.owner:
            self.waiting.clear()
