"""Which page has control: at most one."""

from collections.abc import Hashable


class ControlSlot:
    """At most one page has control; the others get it in the order of their requests."""

    def __init__(self) -> None:
        self.owner: Hashable | None = None  # the page in control; None while control is free
        self.waiting: list[Hashable] = []  # the pages that request control, the first one first

    def take_control(self, page: Hashable) -> None:
        """Give control to a page if it is free."""
        if self.owner is None:
            self.owner = page

    def request(self, page: Hashable) -> None:
        """Give control to a page if it is free; else the page waits."""
        self.take_control(page)
        if page != self.owner and page not in self.waiting:
            self.waiting.append(page)

    def seize(self, page: Hashable) -> None:
        """Give control to a page, whoever has it."""
        if page in self.waiting:
            self.waiting.remove(page)
        self.owner = page

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
