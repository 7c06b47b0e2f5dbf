"""Where a panel shows the result of a request."""

from nicegui.element import Element

from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.page import widgets


class RequestResult:
    """The result of a request, and the command of a shell that does the same."""

    def __init__(self) -> None:
        """Create the place for it in the container that is active."""
        with Element("div").classes("result") as self._element:
            self._element._props["role"] = "status"
            self._summary = widgets.text(tag="p")
            with widgets.row():
                self._command = widgets.text(tag="code")
                self._copy = widgets.copy_button(self._command, "Copy the command")
        self._element.set_visibility(False)

    def show(self, request: Request | None) -> None:
        """Show a request; none leaves what is shown."""
        if request is None:
            return
        self._element.set_visibility(True)
        tone = {None: "muted", True: "", False: "bad"}[request.ok]
        self._summary.set(text=request.summary, tone=tone)
        self._command.set(text=request.command, hidden=not request.command)
        self._copy.set(hidden=not request.command)
