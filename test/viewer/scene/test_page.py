"""The page draws what MuJoCo's renderer draws, and its mouse and keys act."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import mujoco
import numpy as np
import pytest
from eventually import eventually
from served_scene import ServedScene

from mujoco_ros.model.pose import Pose
from mujoco_ros.rendering import gl
from mujoco_ros.viewer.colours import WHITE
from mujoco_ros.viewer.overlays.shapes import solid, sphere
from mujoco_ros.viewer.scene.drawn_scene import DrawnScene
from mujoco_ros.viewer.scene.entries import HandleEntry, OverlayEntries
from mujoco_ros.viewer.scene.inputs import DragPhase, HandleDragged, KeyPressed, Picked, Pulled
from mujoco_ros.viewer.scene.options import ViewOptions

WIDTH, HEIGHT = 480, 270
LIMIT = 2.5  # mean difference of a view, of 255
PICTURES = os.environ.get("SCENE_PICTURES")
"""A folder for the pictures of all views, beside those of MuJoCo's renderer."""


@dataclass(frozen=True)
class View:
    scene: str
    options: dict[str, Any] = field(default_factory=dict)
    render: dict[str, bool] = field(default_factory=dict)
    azimuth: float = 120.0
    elevation: float = -20.0
    limit: float = LIMIT


def flags(*names: str, **others: Any) -> dict[str, Any]:
    return {"flags": dict.fromkeys(names, True), **others}


GROUPS = {"groups": {"geom": [False, True, True, True, True, True]}}
VIEWS = {
    "humanoid": View("humanoid"),
    "humanoid from below": View("humanoid", elevation=10.0),
    "humanoid from above": View("humanoid", elevation=-80.0, azimuth=-30.0),
    "joints and centres of mass": View("humanoid", flags("Joint", "Center of Mass", "Transparent")),
    "inertia and body frames": View("humanoid", flags("Inertia", frame="Body")),
    "without textures": View("humanoid", {"flags": {"Texture": False}}),
    "wireframe": View("humanoid", render={"Wireframe": True}, limit=12.0),  # other floor tiles
    "fog": View("humanoid", render={"Fog": True}),
    "segments": View("humanoid", render={"Segment": True}),
    "arm": View("arm"),
    "cameras, lights and actuators": View("arm", flags("Camera", "Light", "Actuator")),
    "other groups": View("arm", flags("Convex Hull", **GROUPS)),
    "without shadow": View("arm", render={"Shadow": False}),
    "zoo": View("zoo", azimuth=60.0),
    "zoo's tendons and contacts": View("zoo", flags("Tendon", "Contact Point", "Contact Force")),
}


@pytest.fixture(scope="module")
def served() -> Iterator[ServedScene]:
    found = ServedScene("humanoid")
    yield found
    found.close()


@pytest.fixture(scope="module")
def page(served: ServedScene, browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    context.set_default_timeout(120_000)
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda text: text.type == "error" and problems.append(text.text))
    page.goto(f"{served.url}?drawing=three")
    page.wait_for_function("window.scene?.model && scene.slots.count > 0")
    page.evaluate("scene.view.setQuality(2)")
    yield page
    assert problems == []
    context.close()


def settle(page: Any) -> None:
    """Wait until the page has drawn a frame that the server sent after all earlier messages."""
    page.evaluate("scene.settled = (scene.header?.sequence ?? 0) + 2")
    page.wait_for_function(
        "scene.header?.sequence >= scene.settled && !scene.view.drawing?.pending && !scene.isDirty"
    )
    page.evaluate("() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")


def show(page: Any, served: ServedScene, scene: str) -> None:
    """Show a scene on the page."""
    if served.state.metadata["scene"] != scene:
        served.load(scene)
        page.wait_for_function(
            "(name) => scene.model.scene === name && scene.slots.count", arg=scene
        )


def picture(page: Any) -> np.ndarray:
    content = np.frombuffer(page.screenshot(), np.uint8)
    return cv2.imdecode(content, cv2.IMREAD_COLOR)[..., ::-1]


class Reference:
    """Draws a view with MuJoCo's renderer."""

    def __init__(self) -> None:
        self._context = gl.open_context()
        self._resources: dict[int, Any] = {}

    def draw(self, served: ServedScene, view: View, pose: dict[str, Any]) -> np.ndarray:
        self._context.make_current()
        model, data = served.state.model, served.state.data
        if id(model) not in self._resources:
            quality = gl.RenderQuality(antialiasing=False, reflections=False)
            self._resources[id(model)] = model, gl.upload(model, quality)
        resources = self._resources[id(model)][1]
        gl.grow_buffer(resources, WIDTH, HEIGHT)
        drawn, camera = DrawnScene(model, ViewOptions().changed(view.options)), mujoco.MjvCamera()
        camera.lookat[:], camera.distance = pose["lookat"], pose["distance"]
        camera.azimuth, camera.elevation = pose["azimuth"], pose["elevation"]
        for _ in range(2):  # planes follow the camera of the last update
            mujoco.mjv_updateScene(
                model, data, drawn.options.to_mujoco(), None, camera, 7, drawn.scene
            )
        names = [name for name, _default, _key in mujoco.mjRNDSTRING]
        for name, is_on in view.render.items():
            drawn.scene.flags[names.index(name)] = is_on
        drawn.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        rectangle = mujoco.MjrRect(0, 0, WIDTH, HEIGHT)
        pixels = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        mujoco.mjr_render(rectangle, drawn.scene, resources)
        mujoco.mjr_readPixels(pixels, None, rectangle, resources)
        return pixels[::-1]

    def close(self) -> None:
        self._context.make_current()
        for _model, resources in self._resources.values():
            resources.free()
        self._context.close()


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    found = Reference()
    yield found
    found.close()


def test_views_look_as_in_mujocos_renderer(page, served, reference):
    differences = {}
    for name, view in VIEWS.items():
        show(page, served, view.scene)
        page.evaluate(f"scene.setCamera({{azimuth: {view.azimuth}, elevation: {view.elevation}}})")
        page.evaluate("scene.frame()")
        page.evaluate(
            "(options) => scene.setOption(options)", view.options | {"render": view.render}
        )
        settle(page)
        shown = picture(page)
        expected = reference.draw(served, view, page.evaluate("scene.camera.pose"))
        differences[name] = float(np.abs(shown.astype(int) - expected).mean())
        if PICTURES:
            both = np.hstack([shown, expected])[..., ::-1]
            cv2.imwrite(str(Path(PICTURES) / f"{name.replace(' ', '_')}.png"), both)
        render = {each: default == "1" for each, default, _key in mujoco.mjRNDSTRING}
        page.evaluate(
            "(options) => scene.setOption(options)", ViewOptions().to_json() | {"render": render}
        )
    assert {
        name: round(each, 2) for name, each in differences.items() if each > VIEWS[name].limit
    } == {}
    assert np.mean(list(differences.values())) <= LIMIT / 2, differences


UNIT_SHAPES = """async () => {
  const { unitShape } = await import("/scene/static/unit_shapes.js");
  return [0, 2, 3, 4, 5, 6, 100, 101, 102, 2000].map((type) => {
    const shape = unitShape(type, { slices: 28, stacks: 16 });
    return ["position", "normal"].map((name) => [...shape.getAttribute(name).array])
      .concat([[...shape.index.array]]);
  });
}"""


def test_triangles_of_unit_shapes_face_outwards(page):
    for points, normals, index in page.evaluate(UNIT_SHAPES):
        corners, of_corners = (np.reshape(each, (-1, 3))[index] for each in (points, normals))
        np.testing.assert_allclose(np.linalg.norm(of_corners, axis=1), 1.0, atol=1e-6)
        edges = np.diff(corners.reshape(-1, 3, 3), axis=1)
        facing = np.cross(edges[:, 0], edges[:, 1])
        has_area = np.linalg.norm(facing, axis=1) > 1e-9  # others are at poles
        mean = of_corners.reshape(-1, 3, 3).mean(axis=1)
        assert ((facing * mean).sum(axis=1)[has_area] > 0.0).all()


def spheres(*colours: tuple[float, float, float, float]) -> OverlayEntries:
    """Return a row of spheres, of which one without opacity is left out."""
    places = zip(np.linspace(-0.6, 0.6, len(colours)), colours, strict=True)
    return OverlayEntries(
        geoms=[sphere(np.array([x, -1.0, 1.0]), 0.15, colour) for x, colour in places if colour[3]]
    )


def test_geoms_that_come_and_go_leave_the_others_as_they_are(page, served):
    red, green, blue, glass, none = (
        *((1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)),
        *((1.0, 1.0, 1.0, 0.5), (0.0, 0.0, 0.0, 0.0)),
    )

    def shown(*colours: tuple[float, float, float, float]) -> np.ndarray:
        served.overlay = spheres(*colours)
        settle(page)
        settle(page)
        return picture(page)

    show(page, served, "humanoid")
    page.evaluate("scene.setCamera({azimuth: 90, elevation: -20, fixed: -1, followed: 0})")
    page.evaluate("scene.frame()")
    expected = shown(none, green, blue)
    many = shown(*[red, green, blue] * 4)
    assert np.abs(many.astype(int) - expected).mean() > 0.5
    shown(glass, green, blue)
    assert np.array_equal(shown(none, green, blue), expected)
    shown(red, green, blue)
    assert np.array_equal(shown(none, green, blue), expected)
    served.overlay = OverlayEntries()


def test_a_plane_of_a_camera_has_its_newest_image(page, served):
    show(page, served, "humanoid")
    page.evaluate("scene.setCamera({azimuth: 90, elevation: 0, fixed: -1, followed: 0})")
    page.evaluate("scene.frame()")
    settle(page)
    towards_camera = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    place, size = np.array([0.0, -0.6, 1.0]), np.array([0.3, 0.3, 0.0])
    plane = solid(int(mujoco.mjtGeom.mjGEOM_PLANE), size, place, towards_camera, WHITE)
    plane.objtype, plane.objid, plane.emission = int(mujoco.mjtObj.mjOBJ_CAMERA), 0, 1.0
    served.overlay = OverlayEntries(geoms=[plane])
    halves = np.zeros((8, 8, 3), np.uint8)
    for upper, lower in (((0, 0, 255), (0, 255, 0)), ((255, 0, 0), (0, 0, 255))):  # blue first
        halves[:4], halves[4:] = upper, lower
        served.images[0] = cv2.imencode(".png", halves)[1].tobytes()
        at = page.evaluate(
            "[1.15, 0.85].map((z) => scene.marks.pixel(scene.camera, "
            "scene.camera.lookat.clone().set(0, -0.6, z)).map(Math.round))"
        )
        for (x, y), colour in zip(at, (upper, lower), strict=True):
            eventually(lambda x=x, y=y, c=colour: (picture(page)[y, x] == c[::-1]).all())
    served.overlay = OverlayEntries()
    page.wait_for_function("!scene.view.drawing.loaded.has('image of camera 0')")


def test_an_asset_that_was_not_fetched_is_fetched_again_and_the_page_says_so(page, served):
    show(page, served, "humanoid")
    settle(page)
    page.evaluate(
        """() => {
          const fetched = window.fetch, failed = new Set();
          const fail = new Promise((_, reject) => {
            window.failAssets = () => reject(new TypeError("no connection"));
          });
          window.fetch = (url, ...others) => {
            const fails = String(url).includes("/assets/") && !failed.has(url);
            if (!fails) return fetched(url, ...others);
            failed.add(url);
            return fail;
          };
          window.failedAssets = failed;
        }"""
    )
    show(page, served, "arm")
    page.wait_for_function(
        "/^loading [0-9]+ meshes/.test(document.querySelector('[role=status]')?.textContent)"
    )
    page.evaluate("failAssets()")
    page.wait_for_function(
        "failedAssets.size > 0 && [...scene.view.drawing.loaded.values()].every(Boolean)"
    )
    settle(page)
    assert page.locator("[role=status]").count() == 0


def test_two_fingers_zoom_by_how_far_they_part(page, served):
    show(page, served, "humanoid")
    page.evaluate("scene.setCamera({fixed: -1, followed: 0})")
    page.evaluate("scene.frame()")
    settle(page)
    before = page.evaluate("scene.camera.distance")
    session = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 80), ("touchMove", 120), ("touchMove", 160)):
        fingers = [{"x": 200 + side * apart / 2, "y": 135, "id": side} for side in (-1, 1)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.evaluate("scene.camera.distance") == pytest.approx(before / 2.0, rel=1e-3)


def drag(page: Any, start: Any, motion: tuple[float, float], *, button: str = "left") -> None:
    """Drag the mouse from a pixel in two steps [px]."""
    page.mouse.move(*start)
    page.mouse.down(button=button)
    for share in (0.5, 1.0):
        page.mouse.move(start[0] + share * motion[0], start[1] + share * motion[1])
    page.mouse.up(button=button)


def of_type(served: ServedScene, kind: type) -> list[Any]:
    return [each for each in served.given if isinstance(each, kind)]


def test_mouse_and_keys_act_on_the_scene(page, served):
    show(page, served, "humanoid")
    page.evaluate("scene.setCamera({azimuth: 120, elevation: -20, fixed: -1, followed: 0})")
    page.evaluate("scene.frame()")
    settle(page)
    middle = WIDTH / 2, HEIGHT / 2

    page.mouse.dblclick(*middle)
    page.wait_for_function("scene.pointer.selected > 0 && scene.slots.view")
    settle(page)
    (picked,) = of_type(served, Picked)
    assert picked.body == page.evaluate("scene.pointer.selected")

    page.keyboard.down("Control")
    drag(page, middle, (40.0, 0.0), button="right")
    page.keyboard.up("Control")
    settle(page)
    pulls = of_type(served, Pulled)
    assert [pull.phase for pull in pulls] == [
        DragPhase.BEGIN,
        DragPhase.MOVE,
        DragPhase.MOVE,
        DragPhase.END,
    ]
    motion = np.subtract(pulls[-1].position, pulls[0].position)
    to_the_right = page.evaluate("scene.camera.aligned(1, 0, false).toArray()")
    x, y, z = pulls[0].position
    pixel = page.evaluate(
        "scene.camera.pixelSize("
        f"scene.camera.lookat.clone().set({x}, {y}, {z}), scene.marks.height)"
    )
    np.testing.assert_allclose(motion, 40.0 * pixel * np.array(to_the_right), atol=2e-3)
    assert not any(pull.rotates for pull in pulls)

    before = page.evaluate("scene.camera.pose")
    drag(page, (30.0, 30.0), (HEIGHT / 4, 0.0))
    assert page.evaluate("scene.camera.azimuth") == pytest.approx(before["azimuth"] - 45.0)

    served.overlay = OverlayEntries(handles=[HandleEntry(name="target", pose=Pose())])
    page.wait_for_function("scene.slots.entries.length === 1")
    settle(page)
    grip = page.evaluate(
        """(() => {
          const entry = scene.marks.current(scene.slots.entries[0]);
          const grips = scene.marks.grips(scene.camera, entry);
          const grip = grips.find((g) => g.control.name === "move z");
          return scene.marks.pixel(scene.camera, grip.point);
        })()"""
    )
    drag(page, grip, (0.0, -30.0))
    settle(page)
    drags = of_type(served, HandleDragged)
    assert [(each.handle, each.phase) for each in drags[:1] + drags[-1:]] == [
        ("move z", DragPhase.BEGIN),
        ("move z", DragPhase.END),
    ]
    x, y, z = drags[-1].position
    assert (x, y) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert z > 0.05
    served.overlay = OverlayEntries()

    page.keyboard.press("j")
    page.wait_for_function("scene.options.flags.Joint")
    page.keyboard.press("s")
    page.keyboard.press("]")
    page.keyboard.press(" ")
    settle(page)
    assert page.evaluate("[scene.render.Shadow, scene.camera.fixed]") == [False, 0]
    page.keyboard.press("Escape")  # who has embedded the scene decides what it closes
    settle(page)
    assert of_type(served, KeyPressed) == [KeyPressed(key="Space"), KeyPressed(key="Escape")]
    page.evaluate("scene.setCamera({ fixed: -1, followed: 0 })")
    page.keyboard.press("j")
    page.keyboard.press("s")


def test_pictures_can_be_chosen_and_age_and_rate_are_on_the_root_element(page, served):
    show(page, served, "humanoid")
    settle(page)
    hidden = "scene.view.renderer.domElement.hidden"
    assert page.evaluate(f"() => {{ scene.setDrawing('pictures'); return {hidden}; }}") is False
    page.wait_for_function("scene.header?.kind === 2")
    assert page.evaluate(hidden) is True
    page.evaluate("() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")
    assert picture(page).std() > 20.0
    page.evaluate("scene.setDrawing('three')")
    settle(page)
    assert picture(page).std() > 20.0
    page.wait_for_function("Number(document.documentElement.dataset.lagS) < 5")
    assert float(page.evaluate("document.documentElement.dataset.fps")) >= 0.0
