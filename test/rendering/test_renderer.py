"""Objects, poses and distances in images."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.sensors.cameras import Camera, Intrinsics, intrinsics_of
from mujoco_ros.rendering import renderer as frames
from mujoco_ros.rendering import renderer as renderers
from mujoco_ros.rendering.gl import PLAIN, RICH, RenderingError
from mujoco_ros.rendering.renderer import frustum_of, only, visible_geoms

CENTRED = Intrinsics(fx=280.0, fy=280.0, cx=159.5, cy=119.5)
OFF_CENTRE = Intrinsics(fx=250.0, fy=310.0, cx=121.3, cy=151.8)
"""Neither in the middle, nor with square pixels."""

MARKERS = np.array(
    [(0, 0, 2), (0.5, 0.3, 2.5), (-0.6, -0.5, 2.2), (0.2, -0.6, 1.9), (-0.3, 0.4, 3)]
)
"""Points of the optical frame: x to the right, y down, z ahead [m]."""
GEOM = int(mujoco.mjtObj.mjOBJ_GEOM)

WORLD = """
<mujoco>
  <visual><headlight active="0"/><quality numslices="64" numstacks="64"/></visual>
  <asset><material name="glow" emission="1"/></asset>
  <worldbody>
    {inside}
    <camera name="eye" pos="1 2 3" quat="0.6 0.3 -0.5 0.55"/>
  </worldbody>
</mujoco>"""
BOXES = """
    <geom name="red" type="box" size="1 1 1" pos="-2 0 0" rgba="1 0 0 1" material="glow"/>
    <geom name="green" type="box" size="1 1 1" rgba="0 1 0 1" material="glow"/>
    <geom name="blue" type="box" size="1 1 1" pos="2 0 0" rgba="0 0 1 1" material="glow"/>
    <geom name="hidden" type="box" size="9 9 1" pos="0 0 2" group="3"/>
    <site name="mark" type="box" size="3 1 1" pos="0 0 1"/>
    <camera name="above" pos="0 0 10"/>"""


def made(inside: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(WORLD.format(inside=inside))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def eye(optics: Intrinsics = CENTRED, width: int = 320, height: int = 240) -> Camera:
    return Camera(
        name="eye",
        namespace="",
        frame="eye_optical_frame",
        camera=0,
        body=0,
        width=width,
        height=height,
        intrinsics=optics,
    )


def optical(data: mujoco.MjData) -> np.ndarray:
    """The first camera's optical frame: columns are right, down and ahead.  # (3, 3)"""
    return data.cam_xmat[0].reshape(3, 3) * (1, -1, -1)


@pytest.mark.parametrize("optics", [CENTRED, OFF_CENTRE], ids=["centred", "off centre"])
def test_a_known_point_is_rendered_at_its_projection_by_the_intrinsics(open_renderer, optics):
    _, data = made("")
    points = data.cam_xpos[0] + MARKERS @ optical(data).T
    balls = "".join(f'<geom size="0.04" pos="{x} {y} {z}"/>' for x, y, z in points)
    model, data = made(balls)
    objects = open_renderer(model).frame(data, eye(optics)).objects[..., 0]
    for geom, (x, y, z) in enumerate(MARKERS):
        rows, columns = np.nonzero(objects == geom)
        assert len(rows) > 40
        assert abs(columns.mean() - (optics.fx * x / z + optics.cx)) < 0.2
        assert abs(rows.mean() - (optics.fy * y / z + optics.cy)) < 0.2


@pytest.mark.parametrize("quality", [PLAIN, RICH], ids=["plain", "rich"])
@pytest.mark.parametrize(("distance", "tilt"), [(0.05, 0.0), (1.0, 0.9), (40.0, 0.4)])
def test_the_depth_of_a_plane_is_exact(open_renderer, quality, distance, tilt):
    _, data = made("")
    frame = optical(data)
    normal = frame @ (0.6 * np.sin(tilt), 0.8 * np.sin(tilt), -np.cos(tilt))
    middle = data.cam_xpos[0] + distance * frame[:, 2]
    place = f'pos="{" ".join(map(str, middle))}" zaxis="{" ".join(map(str, normal))}"'
    model, data = made(f'<geom type="plane" size="{50 * distance} {50 * distance} 1" {place}/>')
    depth = open_renderer(model, quality=quality).frame(data, eye(OFF_CENTRE)).depth
    v, u = np.mgrid[:240, :320]
    rays = np.stack(
        [
            (u - OFF_CENTRE.cx) / OFF_CENTRE.fx,
            (v - OFF_CENTRE.cy) / OFF_CENTRE.fy,
            np.ones((240, 320)),
        ],
        axis=-1,
    )
    along = rays @ (frame.T @ normal)
    expected = distance * (frame[:, 2] @ normal) / along
    hit = np.isfinite(depth)
    assert hit.mean() > 0.9
    assert np.abs(depth[hit] / expected[hit] - 1).max() < 2e-5


def test_colours_and_objects_are_those_of_the_geoms(open_renderer):
    model, data = made(BOXES)
    renderer = open_renderer(model)
    above = eye(Intrinsics(fx=120, fy=120, cx=79.5, cy=59.5), 160, 120)
    frame = renderer.frame(data, above)
    assert frame.depth.min() > 8, "in an order in which colour comes between"
    for column, (name, colour) in zip(
        (53, 80, 106),
        {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}.items(),
        strict=True,
    ):
        assert np.abs(frame.colour[60, column].astype(int) - colour).max() <= 2
        assert frame.objects[60, column].tolist() == [model.geom(name).id, GEOM]
        assert frame.depth[60, column] == pytest.approx(9.0, rel=1e-6), "the site is not rendered"
    assert frame.objects[5, 5].tolist() == [-1, -1]
    assert frame.colour[5, 5].tolist() == [0, 0, 0]
    assert frame.depth[5, 5] == np.inf
    renderer.quality = replace(renderer.quality, groups=(3,))
    assert renderer.frame(data, above).objects[60, 80].tolist() == [model.geom("hidden").id, GEOM]


def test_all_images_of_a_view_cost_one_scene_and_two_passes(open_renderer, monkeypatch):
    model, data = made(BOXES)
    renderer = open_renderer(model)
    passes, scenes = [], []
    render, update = mujoco.mjr_render, mujoco.mjv_updateScene
    monkeypatch.setattr(frames.mujoco, "mjr_render", lambda *a: (passes.append(0), render(*a)))
    monkeypatch.setattr(mujoco, "mjv_updateScene", lambda *a: (scenes.append(0), update(*a)))
    frame = renderer.frame(data, eye())
    assert (len(scenes), len(passes)) == (1, 0), "nothing is rendered before it is requested"
    for _ in range(2):
        frame.depth, frame.objects, frame.colour  # noqa: B018
    assert (len(scenes), len(passes)) == (1, 2)
    assert renderer.frame(data, eye()).colour is frame.colour, "buffers are reused"


def test_two_renderers_and_two_sizes_do_not_disturb_each_other(open_renderer):
    boxes, ball = made(BOXES), made('<geom size="1" pos="0 0 -1"/><camera pos="0 0 10"/>')
    first, second = open_renderer(boxes[0]), open_renderer(ball[0])
    small, large = eye(width=32, height=24), eye(width=900, height=700)
    expected = first.frame(boxes[1], large).colour.copy()
    assert first.frame(boxes[1], small).colour.shape == (24, 32, 3)
    assert (first.frame(boxes[1], replace(large, intrinsics=OFF_CENTRE)).colour != expected).any()
    frame = first.frame(boxes[1], large)
    assert second.frame(ball[1], small).colour.shape == (24, 32, 3)
    np.testing.assert_array_equal(frame.colour, expected)
    second.close()
    np.testing.assert_array_equal(first.frame(boxes[1], large).colour, expected)


def test_another_model_is_rendered_and_the_previous_one_is_freed(open_renderer):
    texture = (
        '<texture name="t" type="2d" builtin="flat" width="1024" height="1024"/>'
        '<material name="m" texture="t"/>'
    )
    xml = WORLD.format(inside='<geom size="1" material="m"/><camera pos="0 0 5"/>')
    model = mujoco.MjModel.from_xml_string(xml.replace("<asset>", f"<asset>{texture}"))
    other, data = made(BOXES)
    renderer = open_renderer(model)
    for _ in range(5):
        renderer.set_model(model)
    before = resident_mb()
    for _ in range(20):
        renderer.set_model(model)
    renderer.set_model(other)
    assert resident_mb() - before < 30, "20 textures of 4 MB were freed"
    assert set(np.unique(renderer.frame(data, eye()).objects[..., 0])) >= {0, 1, 2}


def resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def test_an_image_that_is_too_large_is_refused_and_others_are_rendered(open_renderer):
    model, data = made(BOXES)
    renderer = open_renderer(model)
    with pytest.raises(RenderingError, match=r"1000000 x 2 pixels is too large for .*limit is \d+"):
        renderer.frame(data, eye(width=1_000_000, height=2))
    assert renderer.frame(data, eye()).colour.any()


def test_after_a_driver_fails_twice_in_a_row_the_next_image_is_rendered(open_renderer, monkeypatch):
    model, data = made(BOXES)
    renderer = open_renderer(model)

    def fail(*_arguments: object) -> None:
        raise mujoco.FatalError("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(renderers.gl, "grow_buffer", fail)
        patch.setattr(mujoco, "MjrContext", fail)
        for _ in range(2):
            with pytest.raises(RenderingError, match="cannot render the model: out of memory"):
                renderer.frame(data, eye())
    assert renderer.frame(data, eye()).colour.any()


@pytest.mark.parametrize("quality", [PLAIN, RICH], ids=["plain", "rich"])
def test_the_model_is_unchanged(open_renderer, quality):
    model, data = made(BOXES + '<geom type="plane" size="0 0 .1"/>')
    before = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, before)
    assert open_renderer(model, quality=quality).frame(data, eye()).colour.any()
    after = np.empty_like(before)
    mujoco.mj_saveModel(model, None, after)
    np.testing.assert_array_equal(after, before)


GROUND = """
    <geom type="plane" size="0 0 0.05" material="checker"/>
    <body pos="21.5 -13.2 1"><camera name="far" xyaxes="0.3 1 0 0 0.2 1"/></body>"""
CHECKER = """<asset>
    <texture name="sky" type="skybox" builtin="flat" rgb1="0.3 0.5 0.7" width="8" height="48"/>
    <texture name="c" type="2d" builtin="checker" width="64" height="64" rgb1="1 1 1" rgb2="0 0 0"/>
    <material name="checker" texture="c" texrepeat="0.8 1.25" texuniform="true"/>"""


def test_a_ground_of_few_tiles_has_the_image_of_the_engine(open_renderer):
    xml = WORLD.format(inside=GROUND).replace("<asset>", CHECKER)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = open_renderer(model, quality=replace(PLAIN, fine_planes=True))
    fine = renderer.frame(data, eye()).colour.astype(int)
    assert fine[200:].std() > 50, "the checks are visible"
    renderer.quality = PLAIN
    coarse = renderer.frame(data, eye()).colour.astype(int)
    assert (np.abs(coarse - fine).max(axis=2) > 10).mean() < 0.002


def test_no_visible_geom_is_culled(open_renderer):
    random = np.random.default_rng(5)
    kinds = ("sphere", "box", "capsule", "cylinder", "ellipsoid")
    things = "".join(
        f'<geom type="{kind}" size="{" ".join(map(str, random.uniform(0.05, 0.4, 3)))}"'
        f' pos="{" ".join(map(str, random.uniform(-3, 6, 3)))}"'
        f' quat="{" ".join(map(str, random.normal(size=4)))}"/>'
        for kind in random.choice(kinds, 150)
    )
    model, data = made(things + '<geom type="plane" size="0 0 1" pos="0 0 -3"/>')
    renderer = open_renderer(model, quality=PLAIN)
    view = eye(OFF_CENTRE)
    culled = renderer.frame(data, view).objects.copy()
    assert renderer._scene.ngeom < 100
    renderer.quality = replace(PLAIN, reflections=True)
    np.testing.assert_array_equal(renderer.frame(data, view).objects, culled)
    assert renderer._scene.ngeom == model.ngeom
    assert len(np.unique(culled[..., 0])) > 10


def test_the_frustum_of_a_camera_equals_that_of_the_engine():
    inside = (
        '<camera name="own" resolution="64 48" sensorsize="0.0064 0.0048" focal="0.005 0.005"'
        ' principal="0.0004 -0.0007"/>'
    )
    model, data = made(inside)
    scene, camera = mujoco.MjvScene(model, maxgeom=10), mujoco.MjvCamera()
    camera.type, camera.fixedcamid = int(mujoco.mjtCamera.mjCAMERA_FIXED), 0
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, 7, scene)
    gl = scene.camera[0]
    left, right, top, bottom = frustum_of(eye(intrinsics_of(model, 0, 64, 48), 64, 48))
    assert (top, bottom) == pytest.approx(
        (gl.frustum_top / gl.frustum_near, gl.frustum_bottom / gl.frustum_near), rel=1e-5
    )
    assert (left + right) / 2 == pytest.approx(gl.frustum_center / gl.frustum_near, rel=1e-5)


# Its edges at 1 m: left -1, right 0.5, top 0.8, bottom -0.4.
CAMERA = Camera(
    name="eye",
    namespace="",
    frame="eye_optical_frame",
    camera=0,
    body=0,
    width=150,
    height=120,
    intrinsics=Intrinsics(fx=100.0, fy=100.0, cx=99.5, cy=79.5),
)
BALL = """
<mujoco><worldbody>
  <geom size="0.5" pos="{} {} {}" group="1"/>
  <geom type="plane" size="0 0 1" pos="0 0 9"/>
  <camera/>
</worldbody></mujoco>"""


def made_ball(x: float, y: float, z: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(BALL.format(x, y, z))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_the_edges_of_a_view_are_half_a_pixel_beyond_the_outer_pixels():
    assert frustum_of(CAMERA) == pytest.approx((-1.0, 0.5, 0.8, -0.4))


@pytest.mark.parametrize(
    ("side", "normal"),
    [
        ((-1.0, 0), (-1, 0, 1.0)),
        ((0.5, 0), (1, 0, 0.5)),
        ((0, 0.8), (0, 1, 0.8)),
        ((0, -0.4), (0, -1, 0.4)),
    ],
    ids=["left", "right", "top", "bottom"],
)
@pytest.mark.parametrize(("distance", "visible"), [(0.499, True), (0.501, False)])
def test_a_ball_is_visible_until_it_no_longer_touches_the_frustum(side, normal, distance, visible):
    # The optical axis is -z: the normal points outwards from a point on that side at 4 m.
    outwards = np.array(normal) / np.linalg.norm(normal)
    place = np.array([4 * side[0], 4 * side[1], -4]) + distance * outwards
    model, data = made_ball(*place)
    assert visible_geoms(model, data, CAMERA).tolist() == [visible, True], "planes always are"


@pytest.mark.parametrize(("z", "visible"), [(0.499, True), (0.501, False), (-5.0, True)])
def test_a_ball_behind_the_camera_is_not_visible(z, visible):
    model, data = made_ball(0, 0, z)
    assert visible_geoms(model, data, CAMERA)[0] == visible


def test_geoms_that_are_left_out_are_moved_to_a_group_that_is_not_rendered_and_back():
    model, _ = made_ball(0, 0, -5)
    with only(model, np.array([False, True]), (0, 1, 2)):
        assert model.geom_group[0] not in (0, 1, 2)
        assert model.geom_group[1] == 0
    assert model.geom_group.tolist() == [1, 0]
    with only(model, np.array([False, True]), range(6)):
        assert model.geom_group.tolist() == [1, 0], "every group is rendered"
