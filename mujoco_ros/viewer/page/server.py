"""Serves the page: NiceGUI behind a `PageGuard`, in one loop with the updates of the state."""

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import uvicorn
from fastapi import FastAPI, Request
from nicegui import app as nicegui_app
from nicegui import context, core, ui
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from mujoco_ros.model.file_cache import state_folder
from mujoco_ros.process.heartbeat import Heartbeat
from mujoco_ros.sim.shared_memory.reader import SharedState, Update
from mujoco_ros.viewer.overlays.drawn_overlays import IMAGES
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.bounded_protocol import BoundedProtocol
from mujoco_ros.viewer.page.compression import Compression
from mujoco_ros.viewer.page.guard import PHONE_PAGE, ROLE, WATCH_PAGE, PageGuard
from mujoco_ros.viewer.page.layout import Layout
from mujoco_ros.viewer.page.link import LinkedView
from mujoco_ros.viewer.page.page_address import PageAddress
from mujoco_ros.viewer.page.panels import PANELS
from mujoco_ros.viewer.page.panels.declared import declared_panels
from mujoco_ros.viewer.page.pictures import mount_pictures
from mujoco_ros.viewer.page.scene_actions import OpenPage, SceneActions
from mujoco_ros.viewer.page.session import Session, Shared
from mujoco_ros.viewer.ros.node import ViewerNode
from mujoco_ros.viewer.scene.entries import OverlayEntries
from mujoco_ros.viewer.scene.scene import SceneServer
from mujoco_ros.viewer.scene_title import scene_title
from mujoco_ros.viewer.settings_file import SettingsFile

_LOG = logging.getLogger(__name__)
_STATIC = Path(__file__).with_name("static")
_FRAME_S, _PANEL_S = 1.0 / 60.0, 0.1  # periods of the scene and of panels
_ACTED_S = 0.03  # period of panels after the user did something
_IDLE_S = 0.1  # period without a page that is in sight
_RETRY_S = 1.0  # time between two attempts to reach the page
_MOST_PAGES = 16
_MOST_CONNECTIONS = 128
_LARGEST_MESSAGE = 1 << 20  # bytes from a page
_RECONNECT_S = 20.0  # how long the state of a page is kept without a connection
_KEEP_S = 1.0  # period in which changed settings are written
_END_S = 1  # time for open connections to end
_LOG_S = 10.0  # shortest time between two reports of the same failure
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" '
    'rx="7" fill="#1f5fbf"/><path d="M8 24V9l8 8 8-8v15" fill="none" stroke="#fff" '
    'stroke-width="3" stroke-linejoin="round"/></svg>'
)
_HEAD = (
    '<meta name="description" content="Panels and scene of a running simulation">'
    '<link rel="stylesheet" href="/page/page.css"><script src="/page/page.js" defer></script>'
)


class PageServer:
    """The server of the page, and the loop that updates what pages show."""

    def __init__(
        self,
        shared: Shared,
        address: PageAddress,
        title: Callable[[], str],
        settings: SettingsFile | None = None,
    ) -> None:
        """Serve at an address; `title` returns the title of the page, `settings` keeps views."""
        self.settings = settings
        self._settings_due = 0.0
        self._actions = SceneActions(self._page_of)
        self._scene = SceneServer(shared.state, self.entries, self._actions.handle)
        self.shared = shared
        self._address, self._title = address, title
        self._layouts: dict[str, tuple[Session, Layout]] = {}
        self._kept: dict[str, dict[str, Any]] = {}  # settings that pages had last
        self._logged_at: dict[str, float] = {}  # when a failure was logged, by what failed [s]
        self._stop = asyncio.Event()
        self._is_new = True
        self._heart = Heartbeat(shared.state.beat)

    @property
    def shared(self) -> Shared:
        """What pages share; another one is for the pages that are opened from then on."""
        return self._shared

    @shared.setter
    def shared(self, shared: Shared) -> None:
        self._shared, self._scene.displays = shared, shared.displays
        self._is_computed = False  # whether ``mj_forward`` has run on the present state

    def entries(self) -> OverlayEntries:
        """Return what is drawn over the scene; without what fails."""
        entries = OverlayEntries()
        with self._logged("an overlay"):
            entries = self.shared.overlays.entries()
        with self._logged("the handles of frames"):
            entries.handles = self.shared.handles.entries()
        return entries

    async def run(self) -> None:
        """Serve until `end` is called or the simulator ends.

        Raises:
            RuntimeError: The server has ended by itself.
        """
        api = FastAPI(openapi_url=None)
        self._scene.mount(api, self._admit)
        mount_pictures(api, self._admit, lambda: self.shared)
        _configure(api, self._build)
        config = uvicorn.Config(
            Compression(PageGuard(api, self._address)),
            log_config=None,
            access_log=False,
            server_header=False,
            http=BoundedProtocol,
            ws="websockets-sansio",
            ws_max_size=_LARGEST_MESSAGE,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_END_S,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._address.socket]))
        try:
            await self._update(serving)
            if serving.done() and not serving.cancelled():
                raise RuntimeError("the server of the page has ended") from serving.exception()
        finally:
            self._keep_settings()
            server.should_exit = True
            with self._logged("the end of the server"):
                await serving
            with self._logged("the end of a drag"):
                self._actions.end()
            self._scene.close()
            self.shared.close()

    def end(self) -> None:
        """End `run`; any thread and handlers of signals may call it."""
        self._stop.set()

    async def _update(self, serving: "asyncio.Task[None]") -> None:
        """Update the state and all pages until the end; what fails is logged, and tried again."""
        due, has_scene = 0.0, False
        while not (self._stop.is_set() or self.shared.state.ended or serving.done()):
            begin = time.monotonic()
            with self._logged("an update of the state"):
                self._follow_state()
            with self._logged("a drag"):
                self._actions.tick()
            with self._logged("a motion of a frame"):
                self.shared.motion.tick(begin)
            is_seen = any(not session.is_hidden for session, _ in self._layouts.values())
            with self._logged("an update of the scene"):
                if self._scene.links and is_seen:
                    if not self._is_computed:
                        mujoco.mj_forward(self.shared.state.model, self.shared.state.data)
                        self._is_computed = True
                    self._scene.update()
                elif has_scene:
                    self.shared.overlays.pause()
            has_scene = bool(self._scene.links) and is_seen
            if begin >= due or (begin >= due - _PANEL_S + _ACTED_S and self._has_acted):
                due = begin + _PANEL_S
                await self._refresh()
            period = _FRAME_S if is_seen else _IDLE_S
            await asyncio.sleep(max(0.0, period - (time.monotonic() - begin)))

    @property
    def _has_acted(self) -> bool:
        return any(session.feed.has_acted for session, _ in self._layouts.values())

    def _follow_state(self) -> None:
        change = self.shared.state.update()
        self._is_new |= change is Update.MODEL
        self._is_computed &= change is Update.NOTHING
        self._heart.frame(is_new=self._is_new)
        self._is_new = False

    @contextmanager
    def _logged(self, action: str) -> Iterator[None]:
        """Log an exception, of each action every ten seconds at most, and go on."""
        try:
            yield
        except Exception:
            now = time.monotonic()
            if now >= self._logged_at.get(action, -_LOG_S) + _LOG_S:
                self._logged_at[action] = now
                _LOG.exception("%s failed", action)

    def _admit(self, connection: HTTPConnection) -> Role | None:
        """Return the role of a connection of the scene, at most what its page may do."""
        role: Role | None = connection.scope[ROLE]
        if connection.scope["type"] == "websocket":
            page = self._layouts.get(connection.query_params.get("page", ""))
            if page is None:
                return None
            return role if page[0].can_control else Role.WATCH
        return role

    def _page_of(self, number: int) -> OpenPage | None:
        """Return the page whose scene has a number; None if it is closed."""
        link = self._scene.links.get(number)
        page = None if link is None else self._layouts.get(link.page)
        return None if link is None or page is None else OpenPage(*page, link.heard_at)

    async def _refresh(self) -> None:
        now = time.monotonic()
        with self._logged("an update of declared panels"):
            self.shared.declared.update(now)
        with self._logged("a subscription to images"):
            is_shown = self._scene.links and self.shared.overlays.shown[IMAGES]
            images = self.shared.camera_images
            images.want(self, images.in_scene() if is_shown else ())
        for session, layout in list(self._layouts.values()):
            with self._logged("an update of a page"):
                session.follow_control(now)
                if session.can_control:
                    self.shared.note_age(max(session.feed.age, self._scene.age(session.client.id)))
                if session.client.has_socket_connection:
                    session.feed.has_acted = False
                    with session.client:
                        self._follow_scene(session, layout)
                        layout.tick()
                    await session.feed.flush()
        if now >= self._settings_due:
            self._settings_due = now + _KEEP_S
            self._keep_settings()

    def _keep_settings(self) -> None:
        """Write the settings of the page with control that have changed."""
        for session, layout in list(self._layouts.values()):
            is_same = layout.scene == self._scene_name  # as the page, which follows it
            if self.settings is not None and session.can_control and is_same:
                with self._logged("keeping the settings of a page"):
                    self._keep(self.settings, session.client.id, layout.settings())

    def _keep(self, file: SettingsFile, page: str, settings: dict[str, Any]) -> None:
        before = self._kept.get(page)
        self._kept[page] = settings
        if before not in (None, settings):
            file.write(self._scene_name, settings)

    def _follow_scene(self, session: Session, layout: Layout) -> None:
        """Show what was kept of the scene, if that is another one."""
        if self.settings is not None and layout.scene != self._scene_name:
            self._kept.pop(session.client.id, None)
            layout.follow_scene(*self._settings_of_scene())

    @property
    def _scene_name(self) -> str:
        return str(self.shared.state.metadata["scene"])

    def _settings_of_scene(self) -> tuple[str, dict[str, Any]]:
        scene = self._scene_name
        return scene, {} if self.settings is None else self.settings.read(scene)

    def _build(self, role: Role, link: LinkedView) -> None:
        """Build the page of a client, opened by a link."""
        if len(self._layouts) >= _MOST_PAGES:
            self._end_absent_page()
        self._is_new = True
        client = context.client
        session = Session(self.shared, client, role, link)
        panels = [panel(session) for panel in PANELS]
        layout = Layout(session, panels, self._title, partial(declared_panels, session))
        layout.restore(*self._settings_of_scene())
        layout.build()
        self._layouts[client.id] = session, layout
        client.on_delete(lambda: self._forget(client.id))

    def _end_absent_page(self) -> None:
        """End the oldest page that no browser has ever connected to, or else has any more."""
        open_pages = [session for session, _ in self._layouts.values()]
        unused = [session for session in open_pages if not session.has_connected]
        left = [session for session in open_pages if session.is_closed or session.feed.is_mute]
        for session in (unused or left)[:1]:
            session.client.delete()
            return
        raise HTTPException(503, f"{_MOST_PAGES} pages are open; close one")

    def _forget(self, page: str) -> None:
        self._layouts.pop(page, None)
        self._kept.pop(page, None)
        if not self._layouts:
            self.shared.state.show(None)  # the next page begins in the present


class _Server(uvicorn.Server):
    """A server that leaves signals to the viewer."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _configure(api: FastAPI, build: Callable[[Role, LinkedView], None]) -> None:
    """Add the page to an application."""
    ui.add_head_html(_HEAD, shared=True)
    nicegui_app.add_static_files("/page", _STATIC, max_cache_age=0)

    def page(request: Request) -> None:
        build(request.scope[ROLE], LinkedView.parse(request.query_params))

    for path in ("/", PHONE_PAGE, WATCH_PAGE):
        ui.page(path)(page)
    ui.run_with(
        api,
        favicon=_ICON,
        language="en-US",
        binding_refresh_interval=None,
        reconnect_timeout=_RECONNECT_S,
        gzip_middleware_factory=None,
        tailwind=False,
        show_welcome_message=False,
    )
    # The lifespan of `run_with` searches all Python objects for its server; a thread of ROS that
    # builds a tuple meanwhile fails with a SystemError, because the tuple has a second reference.
    api.router.lifespan_context = nicegui_app.router.lifespan_context
    core.sio.eio.max_http_buffer_size = _LARGEST_MESSAGE


def open_page(
    state: SharedState,
    clients: ViewerNode,
    address: PageAddress,
    *,
    log: Callable[[str], object],
    on_start: Callable[[Callable[[], object]], object],
) -> None:
    """Serve the page until the simulator ends.

    Args:
        state: The simulated state.
        clients: The clients that panels use.
        address: Where to serve.
        log: Reports the address.
        on_start: Gets a function that ends the server, also in a handler of a signal.
    """

    async def run() -> None:
        shared = Shared(state, clients, clients.note_image_age)
        server = PageServer(
            shared,
            address,
            lambda: f"{scene_title(state)} \u2013 mujoco_ros",
            SettingsFile(state_folder("viewer")),
        )
        loop = asyncio.get_running_loop()
        on_start(lambda: loop.call_soon_threadsafe(server.end))
        announcing = asyncio.create_task(announce(address, log))
        try:
            await server.run()
        finally:
            announcing.cancel()

    asyncio.run(run())


async def announce(address: PageAddress, log: Callable[[str], object]) -> None:
    """Report the address of the page as soon as a browser can reach it."""
    obstacle = await asyncio.to_thread(lambda: address.obstacle)
    if obstacle:
        _LOG.warning("no browser can reach the page at %s: %s", address.url, obstacle)
    while obstacle:
        await asyncio.sleep(_RETRY_S)
        obstacle = await asyncio.to_thread(lambda: address.obstacle)
    if address.tokens is not None:  # the log is a topic, which bags record
        control = address.tokens.link(address.url, Role.CONTROL)
        watch = address.tokens.link(f"{address.url}{WATCH_PAGE[1:]}", Role.WATCH)
        sys.stderr.write(f"page: {control}\nread-only page: {watch}\n")
    log(f"the viewer is at {address.text}")
