"""A row is the whole state: loaded, and stepped once, it is the next row, bit for bit."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import named_frames
from mujoco_ros.model.scene.config import load_scene, shipped_scenes
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state.state_vector import INPUTS, state_fields, state_vector
from mujoco_ros.sim.state_log.reader import LogSegment, StateLog
from mujoco_ros.sim.state_log.row_format import MAGIC, ROWS, SEGMENT, find_records, write_record
from mujoco_ros.sim.wrenches import AppliedWrench

ROOT = Path(__file__).parents[3]
STEPS = 150
FEW = 50


def differing(segment: LogSegment) -> list[tuple[int, str]]:
    """Return the fields that differ from the former row after a step; inputs are set between."""
    model, found = segment.model, []
    data = mujoco.MjData(model)
    fields = [it for it in state_fields(model, data) if not it.bit & INPUTS and it.name != "time"]
    for index in range(len(segment) - 1):
        mujoco.mj_resetData(model, data)
        segment.load_state(index, data)
        mujoco.mj_step(model, data)
        after, row = state_vector(model, data), segment.row(index + 1)
        found += [
            (index + 1, it.name)
            for it in fields
            if it.view(after).tobytes() != row[it.name].tobytes()
        ]
        assert data.time == pytest.approx(row["time"], abs=1e-9)
    return found


def excite(simulation: Simulation, random: np.random.Generator) -> None:
    """Move the references, and the controls that no reference drives, by chance."""
    references = simulation.references
    references.q[:] += 0.02 * random.standard_normal(references.q.shape)
    others = np.setdiff1d(np.arange(simulation.model.nu), simulation.drives.slots)
    simulation.data.ctrl[others] = 0.3 * random.standard_normal(len(others))


@pytest.mark.parametrize("scene", shipped_scenes())
def test_every_shipped_scene_with_wrenches_and_pulls(write_log, shipped, scene):
    simulation, random = shipped(scene), np.random.default_rng(3)
    first, second = list(named_frames(simulation.model, simulation.layout).values())[1:3]
    pushed = AppliedWrench(force=(3.0, 0.0, 5.0), torque=(0.0, 0.5, 0.0), until=0.05)
    simulation.wrenches.put(first, pushed)
    target = Pull(
        turns=False, point=np.zeros(3), position=np.ones(3), quat_wxyz=np.array([1.0, 0, 0, 0])
    )
    simulation.wrenches.pull(second, target)
    segment = write_log(simulation, FEW, before=lambda: excite(simulation, random))
    assert segment.xfrc_applied.any()
    assert differing(segment) == []


LEG = """
<body name="leg" pos="0 0 1"><joint name="hip" axis="0 1 0" damping="0.2" {joint}/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/><site name="knee" pos=".3 0 0"/>
  <body pos=".3 0 0"><joint name="knee" axis="0 1 0" damping="0.1"/><site name="tip" pos=".3 0 0"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/></body></body>"""
BOX = '<body pos="{}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
FAST = '<option timestep="0.001"/>'


def actuated(*actuators: str) -> str:
    return mjcf(rest=f"<actuator>{''.join(actuators)}</actuator>")


def mjcf(
    options: str = "", joint: str = "", bodies: str = "", rest: str = "", leg: bool = True
) -> str:
    parts = (LEG.format(joint=joint) if leg else "") + bodies
    floor = '<geom type="plane" size="2 2 .1"/>'
    return f"<mujoco>{options}<worldbody>{floor}{parts}</worldbody>{rest}</mujoco>"


def flex(
    kind: str, elasticity: str, rest: str = "", options: str = FAST, height: float = 0.5
) -> str:
    return mjcf(
        options,
        bodies=f'<flexcomp name="f" type="grid" {kind} spacing=".1 .1 .1" pos="0 0 {height}" '
        f'mass="1"><elasticity {elasticity}/>{rest}</flexcomp>',
        leg=False,
    )


SHEET = 'dim="2" count="4 4 1" radius=".01"'
THIN = 'dim="2" count="4 4 1" radius=".0005"'
BENDING = 'young="1e4" poisson="0.1" thickness="0.01" elastic2d="both"'
FREE = '<edge equality="false"/>'
FEATURES = (
    {
        "delay": (
            actuated('<position joint="hip" kp="50" kv="2" delay=".05" nsample="26"/>'),
            "history",
        ),
        "delay between steps": (
            actuated('<position joint="hip" kp="50" delay=".0513" nsample="30" interp="linear"/>'),
            "history",
        ),
        "delayed sensors": (
            mjcf(
                rest='<sensor><gyro site="tip" delay=".01" nsample="6"/>'
                '<jointpos joint="hip" nsample="3"/></sensor>'
            ),
            "history",
        ),
        "plastic joint": (mjcf(joint='stiffness="20" springyield="0.5"'), "plastic"),
        "plastic tendon": (
            mjcf(
                bodies='<site name="o" pos="0 0 2"/>',
                rest='<tendon><spatial stiffness="50" springyield=".01"><site site="knee"/>'
                '<site site="o"/></spatial></tendon>',
            ),
            "plastic",
        ),
        "plastic sheet": (
            flex(SHEET, f'{BENDING} yield=".001 .001"', f'{FREE}<pin id="0 3"/>'),
            "plastic",
        ),
        "rod": (
            flex(
                'dim="1" count="8 1 1" radius=".01"',
                'young="1e5" poisson=".1"',
                f'{FREE}<pin id="0"/>',
            ),
            "plastic",
        ),
        "soft body": (
            flex('dim="3" count="3 3 3" radius=".01"', 'young="1e4" poisson=".1" damping=".01"'),
            "qvel",
        ),
        "incremental contact": (
            flex(
                THIN,
                BENDING,
                FREE,
                '<option integrator="discrete"><flag ipc="enable"/></option>',
                height=0.02,
            ),
            "flexvert_lambda",
        ),
        "sleeping": (
            mjcf(
                '<option><flag sleep="enable"/></option>',
                bodies=BOX.format("0 0 .1") + BOX.format("0 1 .12") + BOX.format(".02 .02 1.4"),
                leg=False,
            ),
            "tree_asleep",
        ),
        "filters": (
            actuated(
                '<position joint="hip" kp="20" timeconst="0.1"/>',
                '<intvelocity joint="knee" kp="20" actrange="-1 1"/>',
            ),
            "act",
        ),
        "muscle": (actuated('<muscle joint="hip" lengthrange="0.1 1"/>'), "act"),
        "dcmotor": (
            actuated(
                '<dcmotor joint="hip" resistance="1" motorconst=".1" inductance=".01" '
                'lugre="100 1 .1 .2 .1"/>'
            ),
            "act",
        ),
        "pid": (actuated('<pid joint="hip" kp="20" ki="5" kv="1"/>'), "act"),
        "adhesion": (
            mjcf(
                bodies=BOX.format("0 0 .1").replace("<body", '<body name="box"'),
                rest='<actuator><adhesion body="box" gain="5" ctrlrange="0 1"/></actuator>',
                leg=False,
            ),
            "ctrl",
        ),
    }
    | {
        f"integrator {name}": (
            mjcf(f'<option integrator="{name}"/>', bodies=BOX.format(".1 .1 .3")),
            "qvel",
        )
        for name in ("Euler", "RK4", "implicit", "implicitfast", "discrete")
    }
    | {
        f"solver {name} with few iterations": (
            mjcf(
                f'<option solver="{name}" iterations="3" noslip_iterations="2"/>',
                bodies=BOX.format(".1 .1 .2") + BOX.format(".15 .1 .45"),
            ),
            "qacc_warmstart",
        )
        for name in ("PGS", "CG", "Newton")
    }
)


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_of_the_engine_that_has_state(write_log, simulate, feature):
    text, changing = FEATURES[feature]
    simulation, random = simulate(text), np.random.default_rng(3)
    steps = 400 if feature == "sleeping" else STEPS
    segment = write_log(simulation, steps, before=lambda: excite(simulation, random))
    assert np.ptp(getattr(segment, changing), axis=0).any(), "the feature must act"
    assert differing(segment) == []
    if feature == "sleeping":
        assert ((segment.tree_asleep[:-1] >= 0) & (segment.tree_asleep[1:] < 0)).any(), "one wakes"


EVERYTHING_SET = """
<mujoco><size nuserdata="3"/><worldbody><body name="puppet" mocap="true"><geom size="0.1"/></body>
  <body name="b"><freejoint/><geom size="0.1"/></body></worldbody>
  <equality><weld name="grip" body1="puppet" body2="b"/></equality></mujoco>"""


def test_inputs_that_are_set_between_two_steps(write_log, simulate):
    simulation, random = simulate(EVERYTHING_SET), np.random.default_rng(3)
    data = simulation.data

    def change() -> None:
        data.userdata[:] = random.standard_normal(3)
        data.qfrc_applied[:] = random.standard_normal(6)
        data.xfrc_applied[2] = random.standard_normal(6)
        data.eq_active[0] = random.integers(2)
        simulation.data.mocap_pos[0] = 0.1 * random.standard_normal(3)

    segment = write_log(simulation, STEPS, before=change)
    for name in ("userdata", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos"):
        assert np.ptp(getattr(segment, name), axis=0).any(), name
    assert differing(segment) == []


@pytest.mark.parametrize(
    "model", sorted((ROOT / "examples" / "plugins").glob("*.xml")), ids=lambda it: it.stem
)
def test_every_example_of_plugins(write_log, model):
    simulation, random = Simulation(load_scene(str(model))), np.random.default_rng(3)
    segment = write_log(simulation, FEW, before=lambda: excite(simulation, random))
    assert differing(segment) == []


OLD = (
    "time",
    "qpos",
    "qvel",
    "act",
    "plugin_state",
    "ctrl",
    "mocap_pos",
    "mocap_quat",
    "eq_active",
)
"""The fields of the state in the first logs."""


def test_a_log_of_an_older_version_is_read(write_log, simulate, path, tmp_path):
    simulation, random = simulate(FEATURES["delay"][0]), np.random.default_rng(3)
    new = write_log(simulation, FEW, before=lambda: excite(simulation, random)).segments[0]
    first, *rows = find_records(path, memoryview(path.read_bytes()))[0]
    content = path.read_bytes()[first.offset : first.offset + first.length]
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    kept = {*OLD, "sensordata", "qacc", "qfrc_actuator", "references"}
    header["fields"] = [it for it in header["fields"] if it["name"] in kept]
    text = json.dumps(header).encode()
    old_path = tmp_path / "old.mjlog"
    columns = [getattr(new, it["name"]).tobytes() for it in header["fields"]]
    with old_path.open("wb") as file:
        file.write(MAGIC)
        write_record(file, SEGMENT, [len(text).to_bytes(8, "little"), text, content[end:]])
        write_record(file, ROWS, columns)
    old = StateLog.open(old_path).segments[0]
    assert rows
    assert {"history", "qacc_warmstart", "xfrc_applied"} <= set(old.missing)
    assert new.missing == ()
    data = mujoco.MjData(old.model)
    data.history[:] = 9.0
    old.load_state(20, data)
    assert data.qpos.tobytes() == new.qpos[20].tobytes()
    assert (data.history[-26:] == data.ctrl[0]).all(), "delays hold the present controls"
    mujoco.mj_forward(old.model, data)
    assert np.abs(data.qacc).max() < 1e3
    playback = Playback(StateLog.open(old_path), lambda _segment: None)
    for row in range(FEW):
        assert playback.step()
        assert playback.sample.qpos.tobytes() == new.qpos[row].tobytes()
