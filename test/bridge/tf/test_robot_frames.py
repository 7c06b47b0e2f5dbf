"""Chained frames of TF have the poses of MuJoCo's bodies, sites and cameras."""

from typing import Any

import mujoco
import numpy as np
import pytest
from reference_run import Instant, reference_run
from simulators import DATA, SimulatorLauncher, steps_of
from tf2_msgs.msg import TFMessage
from zoo_recording import LATCHED, ZooRecording, subscription_qos

from mujoco_ros.bridge.publishing.topic_plan import TopicPlan
from mujoco_ros.bridge.tf.robot_frames import plan_frames
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

Pose = tuple[np.ndarray, np.ndarray]  # position (3,), rotation (3, 3)
_PROBE = str(DATA / "probe.xml")
_EXACT = 1e-9


def _pose(transform: Any) -> Pose:
    t, q = transform.translation, transform.rotation
    x, y, z, w = q.x, q.y, q.z, q.w
    assert abs(x * x + y * y + z * z + w * w - 1) < 1e-9
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.array([t.x, t.y, t.z]), rotation


class Tree:
    """Frames by name, each with its parent and its pose in it."""

    def __init__(self, *messages: Any) -> None:
        self.frames: dict[str, tuple[str, Pose]] = {}
        for transform in (t for message in messages for t in message.transforms):
            assert transform.child_frame_id not in self.frames, "a frame has two parents"
            parent = transform.header.frame_id
            self.frames[transform.child_frame_id] = (parent, _pose(transform.transform))

    def in_world(self, frame: str) -> Pose:
        """Return the pose of a frame in the world, chained through its parents."""
        if frame == "world":
            return np.zeros(3), np.eye(3)
        parent, (position, rotation) = self.frames[frame]
        origin, turn = self.in_world(parent)
        return origin + turn @ position, turn @ rotation

    def children(self, parent: str) -> set[str]:
        return {child for child, (of, _) in self.frames.items() if of == parent}


def _assert_same(got: Pose, expected: Pose) -> None:
    np.testing.assert_allclose(got[0], expected[0], atol=_EXACT)
    np.testing.assert_allclose(got[1], expected[1], atol=_EXACT)


def _listen(start: SimulatorLauncher, **parameters: Any) -> tuple[list[Any], Any]:
    """Return some messages of /tf, and the one of /tf_static."""
    simulator = start.simulator(real_time_factor=0.2, **parameters)
    listener = start.listener(simulator)
    moving = listener.record(TFMessage, "/tf", reliable=True)
    static = listener.record(TFMessage, "/tf_static", qos=subscription_qos(LATCHED))
    assert listener.spin_until(lambda: len(moving) >= 5 and len(static) >= 1)
    assert len(static) == 1
    return moving.messages, static.messages[0]


def test_bases_and_free_objects_have_the_poses_of_the_engine(zoo: ZooRecording) -> None:
    messages = zoo.recordings["/tf"].messages
    for message, step in zip(messages, steps_of(messages), strict=True):
        tree, instant = Tree(message), zoo.instants[step]
        assert tree.children("world") == {
            "humanoid/pelvis",
            "quadruped/trunk",
            "left_box",
            "right_box",
        }
        for frame in ("humanoid/pelvis", "quadruped/trunk", "left_box", "right_box"):
            body = frame if "/" in frame else f"{frame}/{_root(instant, frame)}"
            pose, _, _ = instant.free(body)
            transform = next(t for t in message.transforms if t.child_frame_id == frame)
            t, q = transform.transform.translation, transform.transform.rotation
            assert [t.x, t.y, t.z, q.w, q.x, q.y, q.z] == pose.tolist()


def _root(instant: Instant, prefix: str) -> str:
    names = [name for name in instant.poses if name.startswith(f"{prefix}/")]
    return min(names, key=lambda name: instant.model.body(name).id).removeprefix(f"{prefix}/")


def test_all_transforms_of_a_message_have_its_one_stamp(zoo: ZooRecording) -> None:
    for message in zoo.recordings["/tf"].messages:
        stamps = {(t.header.stamp.sec, t.header.stamp.nanosec) for t in message.transforms}
        assert len(stamps) == 1


def test_fixed_bases_and_sensor_frames_are_static_and_carry_the_robots_prefix(
    zoo: ZooRecording,
) -> None:
    tree = Tree(zoo.recordings["/tf_static"].messages[0])
    of_world = "overview_optical_frame"
    assert {frame.split("/")[0] for frame in tree.frames} <= {*_PREFIXES, of_world}
    first = zoo.instants[min(zoo.instants)]
    _assert_optical(tree.in_world(of_world), first.poses["camera:overview"])
    assert len(tree.children("world")) == 3  # the bases of the two arms, and the camera
    for arm in ("left_arm", "right_arm"):
        (base,) = {f for f in tree.children("world") if f.startswith(f"{arm}/")}
        _assert_same(tree.in_world(base), zoo.instants[min(zoo.instants)].poses[base])


_PREFIXES = ("humanoid", "quadruped", "left_arm", "right_arm")


def test_tf_static_reaches_a_late_subscriber(zoo: ZooRecording, start: SimulatorLauncher) -> None:
    late = start.listener(zoo.simulator)
    recording = late.record(TFMessage, "/tf_static", qos=subscription_qos(LATCHED))
    assert late.spin_until(lambda: len(recording) > 0)
    assert recording.messages == zoo.recordings["/tf_static"].messages


@pytest.fixture(scope="module")
def humanoid(
    start_shared: SimulatorLauncher,
) -> tuple[list[Any], Any, dict[int, Instant]]:
    moving, static = _listen(start_shared, scene="humanoid", tf="all")
    return moving, static, reference_run("humanoid", steps_of(moving))


def test_all_links_of_a_single_robot_have_the_poses_of_the_engine_and_no_prefix(
    humanoid: tuple[list[Any], Any, dict[int, Instant]],
) -> None:
    moving, static, instants = humanoid
    for message, step in zip(moving, steps_of(moving), strict=True):
        tree, instant = Tree(message, static), instants[step]
        bodies = [n for n in instant.poses if n.startswith("humanoid/")]
        assert len(bodies) > 33
        for body in bodies:
            _assert_same(tree.in_world(body.removeprefix("humanoid/")), instant.poses[body])


def test_sensor_frames_are_sites_and_the_optical_frame_points_along_the_camera(
    humanoid: tuple[list[Any], Any, dict[int, Instant]],
) -> None:
    moving, static, instants = humanoid
    tree, instant = Tree(moving[-1], static), instants[steps_of(moving)[-1]]
    for site in (
        "pelvis_imu",
        "left_ankle_ft",
        "right_ankle_ft",
        "left_wrist_ft",
        "right_wrist_ft",
    ):
        _assert_same(tree.in_world(site), instant.poses[f"site:humanoid/{site}"])
    (camera,) = (n for n in instant.poses if n.startswith("camera:"))
    frame = f"{camera.removeprefix('camera:humanoid/')}_optical_frame"
    _assert_optical(tree.in_world(frame), instant.poses[camera])


def _assert_optical(got: Pose, camera: Pose) -> None:
    """Compare a frame with REP-103: z into the image, x to its right, y down.

    MuJoCo's cameras look along -z, with x to the right and y up.
    """
    position, rotation = camera
    right, up, backward = rotation.T
    _assert_same(got, (position, np.column_stack([right, -up, -backward])))


def test_every_frame_of_a_bare_model_has_the_pose_of_the_engine(start: SimulatorLauncher) -> None:
    moving, static = _listen(start, scene=_PROBE, tf="all")
    instants = reference_run(_PROBE, steps_of(moving))
    for message, step in zip(moving, steps_of(moving), strict=True):
        tree, instant = Tree(message, static), instants[step]
        frames = {"carriage", "pole", "ball", "puck"}
        for body in frames:
            _assert_same(tree.in_world(body), instant.poses[body])
        sites = {"carriage_site": "carriage", "tip": "tip", "pole ft": "pole ft"}
        for frame, site in sites.items():
            _assert_same(tree.in_world(frame), instant.poses[f"site:{site}"])
        _assert_optical(tree.in_world("eye_optical_frame"), instant.poses["camera:eye"])
        assert set(tree.frames) == {*frames, *sites, "eye_optical_frame"}


def test_with_tf_none_no_frames_are_published(start: SimulatorLauncher) -> None:
    listener = start.listener(start.simulator(scene=_PROBE, tf="none"))
    node = listener.node
    # Created last, so that its discovery implies that of all the others.
    assert listener.spin_until(lambda: node.count_publishers("/diagnostics") == 1)
    assert node.count_publishers("/clock") == 1
    assert node.count_publishers("/tf") == 0
    assert node.count_publishers("/tf_static") == 0


def test_links_on_ball_joints_are_on_tf_because_robot_state_publisher_skips_them(tmp_path):
    model = tmp_path / "chain.xml"
    model.write_text(
        '<mujoco><worldbody><body name="a"><geom size=".1"/><body name="b"><joint type="ball"/>'
        '<geom size=".1"/><body name="c"><joint/><geom size=".1"/></body></body></body></worldbody>'
        "</mujoco>"
    )
    assembly = assemble(load_scene(str(model)))
    layout = lay_out(assembly)
    described = descriptions(assembly, layout)
    plan = plan_frames(assembly.model, layout, "base", described)
    assert [row[:2] for row in plan.moving] == [("a", "b")]
    assert plan.linked_bodies == [assembly.model.body("b").id]
    assert [t.child_frame_id for t in plan.static] == ["a"]


@pytest.mark.parametrize("mode", ["base", "all"])
@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
def test_a_tracking_camera_is_on_tf(tmp_path, mode, integrator):
    path = tmp_path / "watched.xml"
    path.write_text(
        f'<mujoco><option integrator="{integrator}"/><worldbody>'
        '<camera name="guard" pos="2 1 3" mode="targetbody" target="ball"/>'
        '<body name="ball" pos="0 0 5"><freejoint/><geom size=".1"/>'
        '<camera name="along" pos="1 0 0" mode="track"/></body></worldbody></mujoco>'
    )
    simulation = Simulation(load_scene(str(path)))
    layout, plant = simulation.layout, simulation.plant
    described = descriptions(simulation.assembly, layout)
    plan = plan_frames(simulation.model, layout, mode, described)
    topic_plan = TopicPlan(plant, lambda: 0.0, plan, "child_on_parent", controllers=False)
    (content,) = (c for c in topic_plan.contents if c.topic.name == "/tf")
    simulation.data.qvel[3:6] = 1.0, 2.0, 3.0
    for _ in range(100):
        simulation.step()
    for update in topic_plan.updates([content]):
        update()
    expected = mujoco.MjData(simulation.model)
    expected.qpos[:] = simulation.sample.qpos
    mujoco.mj_forward(simulation.model, expected)
    rows = {child: (parent, array, at) for parent, child, array, at in plan.moving}
    for name in ("guard", "along"):
        parent, array, at = rows[f"{name}_optical_frame"]
        assert (parent, array) == ("world", "optical_poses")
        numbers = topic_plan.arrays[array].reshape(-1)[at : at + 7]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, numbers[3:])
        camera = expected.cam(name)
        _assert_optical((numbers[:3], turn.reshape(3, 3)), (camera.xpos, camera.xmat.reshape(3, 3)))
    assert not [t for t in plan.static if t.child_frame_id in rows], "a frame has two parents"
