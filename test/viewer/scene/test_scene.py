"""The server of the scene, with pages that are WebSocket clients."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import cv2
import mujoco
import numpy as np
import pytest
from fastapi import FastAPI
from scene_frames import PageGeoms
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from still_state import StillState

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.scene import packing
from mujoco_ros.viewer.scene.client import PageLink
from mujoco_ros.viewer.scene.entries import HandleEntry, OverlayEntries
from mujoco_ros.viewer.scene.inputs import DragPhase, HandleDragged, KeyPressed, Picked, Pulled
from mujoco_ros.viewer.scene.scene import SceneServer

TARGET = HandleEntry(name="target", pose=Pose(position=np.array([0.1, 0.2, 0.3])))
PULL = {
    "body": 2,
    "phase": "move",
    "local": [0, 0, 0],
    "position": [1, 0, 1],
    "quat_wxyz": [1, 0, 0, 0],
}


def handles() -> OverlayEntries:
    return OverlayEntries(handles=[TARGET])


@dataclass
class Pages:
    """A server and its clients."""

    client: TestClient
    server: SceneServer
    state: StillState
    given: list[Any] = field(default_factory=list)
    role: Role | None = Role.CONTROL

    def update(self) -> None:
        self.client.portal.call(self._update)

    async def _update(self) -> None:
        self.server.update()

    @contextlib.contextmanager
    def page(self) -> Iterator["Page"]:
        with self.client.websocket_connect("/scene") as socket:
            yield Page(self, socket)


class Page:
    def __init__(self, pages: Pages, socket: Any) -> None:
        self._pages, self.socket, self.geoms = pages, socket, PageGeoms()
        self.hello = socket.receive_json()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, and wait until the server has handled it."""
        self.socket.send_json(message)
        self.socket.send_json({"pick": {**camera(), "button": "none"}})
        while True:
            answer = self.socket.receive()
            if "text" in answer and "picked" in json.loads(answer["text"]):
                self._pages.given.pop()
                return

    def frame(self, *, acknowledge: bool = True) -> PageGeoms:
        """Update the server, and read the frame that it sends."""
        self._pages.update()
        self.geoms.read(self.socket.receive_bytes())
        if acknowledge:
            self.send({"ack": self.geoms.sequence})
        return self.geoms


def camera(x: float = 0.5, y: float = 0.5) -> dict[str, Any]:
    """Return a camera 3 m above the world, which looks down."""
    return {
        "position": [0, 0, 3],
        "forward": [0, 0, -1],
        "up": [0, 1, 0],
        "frustum": [0, 0.01, -0.01, 0.01, 0.01, 100],
        "pixel": [x, y],
    }


@pytest.fixture
def pages() -> Iterator[Pages]:
    state, given = StillState("arm"), []
    server = SceneServer(state, handles, lambda _client, each: given.append(each))
    app = FastAPI()
    with TestClient(app) as client:
        found = Pages(client, server, state, given)
        server.mount(app, lambda _connection: found.role)
        yield found
    server.close()


def test_a_page_gets_the_model_and_then_what_changes(pages):
    with pages.page() as page:
        assert page.hello["model"]["scene"] == "arm"
        assert page.hello["options"]["flags"]["Joint"] is False
        first = page.frame()
        assert first.count == len(first.looks) > 20
        assert first.entries[0]["name"] == "target"
        before = first.positions.copy()
        pages.state.data.qpos[:3] += 0.3
        mujoco.mj_forward(pages.state.model, pages.state.data)
        after = page.frame().positions
        moved = [slot for slot in before if not np.array_equal(before[slot], after[slot])]
        assert 0 < len(moved) < first.count


def test_flags_labels_and_frames_are_of_the_page_that_chose_them(pages):
    with pages.page() as page, pages.page() as other:
        count = page.frame().count
        assert other.frame().count == count
        page.send({"options": {"flags": {"Joint": True}, "label": "Body", "frame": "Site"}})
        pages.update()
        page.geoms.read(page.socket.receive_bytes())
        assert page.geoms.count > count
        assert any(page.geoms.labels.values())
        assert other.geoms.count == count


def test_what_fails_for_one_page_stops_no_other(pages, caplog, monkeypatch):
    with pages.page() as page, pages.page() as other:
        first, _ = pages.server.links.values()

        def fail(*_: object) -> None:
            raise ValueError("no such section")

        with monkeypatch.context() as patch:
            patch.setattr(first, "offer", fail)
            assert other.frame().count > 20
            pages.state.data.qpos[0] += 0.3
            mujoco.mj_forward(pages.state.model, pages.state.data)
            assert other.frame().sequence == 2
        assert caplog.text.count("cannot be sent") == 1, "not with every frame"
        assert page.frame().sequence == 1


def test_the_age_of_a_picture_grows_until_the_page_has_drawn_it(pages):
    assert pages.server.age("") == 0.0, "no page"
    with pages.page() as page:
        page.frame(acknowledge=False)
        before = pages.server.age("")
        assert pages.server.age("") > before >= 0.0
        assert pages.server.age("another page") == 0.0
        page.send({"ack": page.geoms.sequence})
        age = pages.server.age("")
        assert pages.server.age("") == age > 0.0


def test_a_slow_page_gets_the_newest_state_and_no_queue(pages):
    with pages.page() as page:
        for step in range(20):
            pages.state.data.qpos[0] = 0.05 * step
            mujoco.mj_forward(pages.state.model, pages.state.data)
            pages.update()
        for _ in range(2):
            page.geoms.read(page.socket.receive_bytes())
        assert page.geoms.sequence == 2
        page.send({"ack": 2})
        newest = page.frame()
        assert newest.sequence == 3
        geom = int(np.flatnonzero(pages.state.model.geom_bodyid == 4)[0])
        slots = [slot for slot, look in newest.looks.items() if look["objid"] == geom]
        shown = [newest.positions[slot] for slot in slots if newest.looks[slot]["objtype"] == 5]
        if shown:
            np.testing.assert_allclose(shown[0], pages.state.data.geom_xpos[geom], atol=1e-4)


def test_colours_reach_the_page_and_another_model_starts_anew(pages):
    with pages.page() as page:
        page.frame()
        pages.state.model.geom_rgba[:] = (1.0, 0.0, 0.0, 1.0)
        pages.state.model.geom_matid[:] = -1
        looks = page.frame().looks.values()
        assert {tuple(look["rgba"]) for look in looks if look["objtype"] == 5} == {(255, 0, 0, 255)}
        pages.state.load("humanoid")
        pages.update()
        assert page.socket.receive_json()["model"]["scene"] == "humanoid"
        page.geoms = PageGeoms()
        page.frame(acknowledge=False)
        assert page.geoms.version == 2
        assert len(page.geoms.looks) == page.geoms.count


def test_a_double_click_finds_the_body_in_the_scene(pages):
    with pages.page() as page:
        page.frame()
        page.socket.send_json({"pick": {**camera(), "button": "left"}})
        answer = page.socket.receive_json()["picked"]
        picked = pages.given[-1]
        assert isinstance(picked, Picked)
        data = pages.state.data
        assert picked.body == answer["body"] > 0
        world = data.xpos[picked.body] + data.xmat[picked.body].reshape(3, 3) @ picked.local
        np.testing.assert_allclose(world, picked.point, atol=1e-9)
        np.testing.assert_allclose(picked.point[:2], 0.0, atol=1e-3)
        page.send({"watch": {"selected": picked.body, "followed": picked.body}})
        view = page.frame().view
        np.testing.assert_allclose(view[3:6], data.xpos[picked.body], atol=1e-5)
        np.testing.assert_allclose(view[:3], data.subtree_com[picked.body], atol=1e-5)


def test_pulls_handles_and_keys_reach_who_asked_for_them(pages):
    with pages.page() as page:
        page.send({"pull": PULL})
        page.send(
            {
                "handle": {
                    "frame": "target",
                    "handle": "move x",
                    "phase": "end",
                    "position": [1, 2, 3],
                    "quat_wxyz": [0, 0, 0, 1.001],
                }
            }
        )
        page.send({"key": {"key": "Space"}})
    pull, handle, key = pages.given
    assert isinstance(pull, Pulled)
    assert (pull.body, pull.phase, pull.position) == (2, DragPhase.MOVE, (1.0, 0.0, 1.0))
    assert isinstance(handle, HandleDragged)
    assert (handle.frame, handle.position, handle.quat_wxyz) == (
        "target",
        (1.0, 2.0, 3.0),
        (0.0, 0.0, 0.0, 1.0),
    )
    assert key == KeyPressed(key="Space")


def test_a_page_that_may_watch_does_not_act_and_others_are_refused(pages):
    pages.role = Role.WATCH
    with pages.page() as page:
        page.send({"pull": PULL})
        assert pages.given == []
        page.send({"key": {"key": "Space"}})
        assert pages.given == [KeyPressed(key="Space")], "the page says that keys need control"
    pages.role = None
    with pytest.raises(WebSocketDisconnect), pages.page():
        pass
    assert pages.client.get("/scene/static/scene.js").status_code == 404


@pytest.mark.parametrize(
    "message",
    [
        {"options": {"flags": {"No such": True}}},
        {"options": {"groups": {"geom": [True]}}},
        {"pick": {"button": "left"}},
        {"pull": {**PULL, "position": [float("nan"), 0, 0]}},
        {"pull": {**PULL, "quat_wxyz": [0, 0, 0, 0]}},
        {"pull": {**PULL, "phase": "later"}},
        {"key": {"key": "F12"}},
        {"picture": {"camera": camera(), "width": 1e9, "height": 100}},
        {"watch": {"selected": "torso"}},
        [],
        {"name": "x" * 5000},
    ],
)
def test_a_page_that_sends_nonsense_is_closed_and_the_others_stay(pages, message):
    with pages.page() as other:
        with pages.page() as page:
            page.socket.send_text(json.dumps(message))
            with pytest.raises(WebSocketDisconnect):
                page.socket.receive_json()
        assert other.frame().count > 0
    assert pages.server.links == {}


def test_an_edit_of_the_model_is_shown_also_while_parts_of_an_entity_are_hidden(pages):
    displays = pages.server.displays = EntityDisplays(pages.state)
    displays.set("arm", collision=True)
    with pages.page() as page:
        page.frame()
        pages.state.model.geom_rgba[:] = pages.state.model.mat_rgba[:] = 0.25
        pages.state.edits += 1
        looks = page.frame().looks.values()
        assert [64] * 4 in [look["rgba"].tolist() for look in looks]


def test_a_page_that_reads_no_answers_is_closed():
    link = PageLink(1, SimpleNamespace(query_params={}), may_control=lambda: True)
    for _ in range(100):
        link.send({"camera": {}})
    with pytest.raises(ValueError, match="100 answers wait"):
        link.send({"camera": {}})
    link.start_model({"model": {}})


def test_assets_and_scripts_are_compressed_and_assets_stay_in_the_cache(pages):
    with pages.page() as page:
        name = page.hello["model"]["assets"]["meshes"][0][0]
        found = pages.client.get(f"/scene/assets/{name}")
        assert "immutable" in found.headers["cache-control"]
        assert found.headers["content-encoding"] == "gzip"
        assert pages.client.get("/scene/assets/unknown").status_code == 404
    for script in ("scene.js", "three.js"):
        found = pages.client.get(f"/scene/static/{script}")
        assert found.headers["content-type"].startswith("text/javascript")
        assert "import" in found.text or "export" in found.text
    assert pages.client.get("/scene/static/scene.py").status_code == 404


def test_a_page_can_have_pictures_and_geoms_again(pages):
    with pages.page() as page:
        count = page.frame().count
        wanted = {"camera": camera(), "width": 160, "height": 120, "render": {"Haze": False}}
        page.send({"picture": wanted})
        pages.update()
        kinds = {}
        while packing.PICTURE not in kinds:
            message = page.socket.receive_bytes()
            kinds[message[0]] = message[packing.HEADER.size :]
        picture = cv2.imdecode(np.frombuffer(kinds[packing.PICTURE], np.uint8), cv2.IMREAD_COLOR)
        assert picture.shape == (120, 160, 3)
        assert picture.std() > 10.0
        page.send({"picture": None})
        page.geoms = PageGeoms()
        pages.update()
        page.geoms.read(page.socket.receive_bytes())
        assert len(page.geoms.looks) == count


def test_a_camera_shows_all_bodies_or_one(pages):
    with pages.page() as page:
        ask = {"azimuth": 90.0, "elevation": -30.0, "aspect": 1.5, "above": 0.1}
        page.socket.send_json({"frame": {"body": 0, **ask}})
        everything = page.socket.receive_json()["camera"]
        page.socket.send_json({"frame": {"body": pages.state.model.nbody - 1, **ask}})
        last = page.socket.receive_json()["camera"]
    assert last["distance"] < everything["distance"]
    assert everything["azimuth"] == 90.0
