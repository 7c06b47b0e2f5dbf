"""The server of the page, in a thread: NiceGUI has one application in a process."""

import asyncio
import gc
import threading

import pytest
from eventually import eventually
from fake_clients import FakeClients
from nicegui import app as nicegui_app
from still_state import StillState

from mujoco_ros.viewer.page.page_address import PageAddress
from mujoco_ros.viewer.page.server import PageServer
from mujoco_ros.viewer.page.session import Session, Shared

_START_S, _END_S = 30.0, 10.0
_RECONNECT_S = 0.05  # a closed page is gone before the next test


class PageThread:
    """Serves the page of a state until `close`."""

    def __init__(self, state: StillState) -> None:
        self.address = PageAddress("127.0.0.1", 0)
        self.server: PageServer
        self._started, self._loop = threading.Event(), asyncio.new_event_loop()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, args=(state,), daemon=True)
        self._thread.start()
        assert self._started.wait(_START_S), "the server has not started"
        self.check()

    @property
    def session(self) -> Session:
        """The session of the only page that is open."""
        ((session, _layout),) = self.server._layouts.values()
        return session

    def show(self, state: StillState, clients: FakeClients) -> None:
        """Let the pages that are opened from now on show a state and use clients."""
        self.check()
        self.server.shared = Shared(state, clients, lambda _seconds: None)

    def check(self) -> None:
        """Raise what has ended the server, if it has ended."""
        if self._failure is not None:
            raise AssertionError("the server of the page has ended") from self._failure
        assert self._thread.is_alive(), "the server of the page has ended"

    def wait_for_the_end_of_pages(self) -> None:
        """Wait until no page is open: nothing reads the state then."""

        def is_over() -> bool:
            self.check()
            self._loop.call_soon_threadsafe(self._end_unused_pages)
            return not (self.server._layouts or self.server._scene.links)

        eventually(is_over, lambda: "a page of the test is still open")

    def close(self) -> None:
        """End the server."""
        self._loop.call_soon_threadsafe(self.server.end)
        self._thread.join(_END_S)
        assert not self._thread.is_alive(), "the server has not ended"
        if self._failure is not None:
            raise self._failure

    def _end_unused_pages(self) -> None:
        """End the pages that their browser has closed before it connected."""
        for session, _layout in list(self.server._layouts.values()):
            if not session.has_connected:
                session.client.delete()

    def _serve(self, state: StillState) -> None:
        try:
            self._loop.run_until_complete(self._run(state))
        except BaseException as error:
            self._failure = error
        finally:
            self._started.set()

    async def _run(self, state: StillState) -> None:
        shared = Shared(state, FakeClients(), lambda _seconds: None)
        self.server = PageServer(shared, self.address, lambda: "arm")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gc, "get_objects", _forbidden)
            running = asyncio.create_task(self.server.run())
            while not (nicegui_app.is_started or running.done()):
                await asyncio.sleep(0.01)
        nicegui_app.config.reconnect_timeout = _RECONNECT_S
        self._started.set()
        await running


def _forbidden() -> None:
    """Fail instead of `gc.get_objects`, which lets other threads fail that build a tuple."""
    raise AssertionError("the server looks for something among all objects")
