"""The page of the engine: what it computes and offers, and where that is in ROS."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import mujoco
from mujoco.introspect.structs import STRUCTS
from sensors_page import sensor_element

from mujoco_ros.extensions.callbacks import SIGNATURES
from mujoco_ros.model.scene.assembly import assemble_part
from mujoco_ros.model.scene.engine_plugins import registered_plugins
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.model.scene.physics_options import read_options
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.sensors.sensor_states import QUANTITIES, STATES
from mujoco_ros.sim.engine_arrays import engine_arrays
from mujoco_ros.sim.simulation import Simulation

_HEAD = """\
# The engine

What MuJoCo {version} computes and offers, and where it is in ROS. A test fails, with the name, if an installed MuJoCo has
something that is not on this page.

## Publish what the engine computes

The parameter `engine_topics` lists it. No sensor in the model is needed, and the list can change while the simulation runs:

```bash
ros2 param set /mujoco engine_topics "['qacc', 'qfrc_*', 'actuator_force', 'site grasp in base_link']"
ros2 param set /mujoco publish_rate.engine 1000.0
ros2 topic echo /engine/joints --once
ros2 topic echo /engine/site/grasp/base_link/pose --once
```

| Entry | Topics | Type |
| --- | --- | --- |
| an array of the table below, or a pattern (`*`, `?`, `[…]`) | `<ns>/engine/joints`, `actuators`, `tendons`, `bodies`, `geoms`, `sites`, `cameras`, `lights`, `equalities`, `scene`: all elements by name, with the arrays as interfaces | control_msgs/DynamicJointState |
| `body <name>`, `geom <name>`, `site <name>`; the name may be a pattern | `<ns>/engine/<kind>/<name>/pose`, `twist`, `accel` and `jacobian`, in `world`; a linear acceleration is +g upwards at rest | geometry_msgs/PoseStamped, TwistStamped, AccelStamped; control_msgs/DynamicJointState: by joint, the velocity of the origin (`linear.x` to `angular.z`) for a unit of the joint's velocity |
| the same with `in <frame>`, a TF frame of the model | `<ns>/engine/<kind>/<name>/<frame>/pose` and `twist`: relative to the frame and its motion, along its axes | likewise |

- Names in entries are the model's, such as `left_arm/gripper`, or those in a robot's file. Elements of no robot are on `/engine/…`. An entry that matches nothing is
  refused, with the names that exist; what a later world lacks is left out.
- All numbers are of the same instant, the beginning of the step, and true, also with [`realism`](realism.md).
- An interface is named after the array: `qacc`, of vectors `xpos.x`, of quaternions `xquat.w`, of others `cvel.0`. Joints with several axes
  have `qacc.rx`, `.ry`, `.rz` (ball), and `qacc.x` to `qacc.rz` (free joint). Units and frames are
  [MuJoCo's](https://mujoco.readthedocs.io/en/stable/APIreference/APItypes.html#mjdata).
- `engine_topics` costs nothing while a topic has no subscriber. Of the humanoid, the forces of all joints and actuators at 1 kHz cost 20 µs of a step (10 to 38 in six windows of 6 s on 2 idle cores).
  What the engine computes on request alone (`energy`, `subtree_linvel`, `subtree_angmom`, `cacc`, `cfrc_int`, `cfrc_ext`, `accel`, `jacobian`) is computed for each message.
- `qfrc_inverse` is computed with `physics.flag.fwdinv`. A topic has at most 4096 numbers.
- Contacts are on [`contact_states`](sensors.md#contacts). The engine's version, its solver, warnings, and the time of each stage of a step are on
  [`/diagnostics`](diagnostics.md).

"""
_CONTROLS = "`actuator_commands`, by name"
_TARGETS = {
    "adhesion": 'body="b"',
    "orientation": 'joint="ball"',
    "dcmotor": 'joint="j" motorconst="0.05" resistance="2"',
    "plugin": 'joint="j" plugin="mujoco.pid"',
}
"""What an actuator acts on, and what it needs, where that is not a hinge alone."""
_MODEL = """
<mujoco>
  <extension><plugin plugin="mujoco.pid"/></extension>
  <worldbody>
    <body name="b"><joint name="j" range="-1 1"/><geom size="0.1"/>
      <body><joint name="ball" type="ball"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <actuator><{element} name="a" {target} ctrlrange="0 1"/></actuator>
</mujoco>"""
_ON_JOINT = "commands of its joint"
TRANSMISSIONS = {
    "joint": _ON_JOINT,
    "jointinparent": _ON_JOINT,
    "slidercrank": _CONTROLS,
    "tendon": f"`gripper_cmd` if it is the gripper, else {_CONTROLS}",
    "site": _CONTROLS,
    "body": _CONTROLS,
    "so3": _CONTROLS,
}
_USER = "a hook of an [extension](../how-to/extend_the_simulator.md)"
LAWS = {
    "none": "all others",
    "integrator": "`intvelocity`",
    "filter": "`cylinder`",
    "filterexact": "`position` with `timeconst`",
    "muscle": "`muscle`",
    "dcmotor": "`dcmotor`",
    "pid": "`pid`",
    "fixed": "`motor`, servos",
    "affine": "servos, `damper`",
    "so3": "`orientation`",
    "user": f"`general`: `act_dyn`, `act_gain` or `act_bias`, {_USER}",
}
_ARRAY = "`<ns>/sensor_array/<name>`"
_ARRAYS = dict.fromkeys(("contact", "tactile", "plugin", "user"), _ARRAY)
_PLUGINS = "[Engine plugins](../how-to/write_engine_plugins.md#mujocos-own-plugins)"
CALLBACKS = {
    **{
        f"mjcb_{kind.replace('contact_f', 'contactf')}": f"`{kind}`, {_USER}" for kind in SIGNATURES
    },
    "mju_user_warning": "log and `/diagnostics`, row `engine`, with the step",
    "mju_user_error": "an error ends the simulator, with its text and step on `/diagnostics`",
    "mju_user_malloc": "none: the process has one allocator",
    "mju_user_free": "none",
    "mjCOLLISIONFUNC": "a C function of a library of [`plugins`](../how-to/write_engine_plugins.md#collision-functions)",
}
Rows = Iterable[tuple[str, str]]


def _members(kind: type, prefix: str, *, but: Iterable[str] = ()) -> Iterator[str]:
    """Yield the names of an enumeration of the engine, without counts."""
    for name in kind.__members__:  # type: ignore[attr-defined]
        short = name.removeprefix(prefix).lower()
        if name.startswith(prefix) and short not in but:
            yield short


def _options() -> Iterator[str]:
    for field in STRUCTS["mjOption"].fields:
        if field.name not in ("disableflags", "enableflags"):
            yield "actuatorgroupdisable" if field.name == "disableactuator" else field.name
    for kind, prefix in ((mujoco.mjtDisableBit, "mjDSBL_"), (mujoco.mjtEnableBit, "mjENBL_")):
        yield from (f"flag.{name}" for name in _members(kind, prefix))


def _callbacks() -> Iterator[str]:
    header = (Path(mujoco.HEADERS_DIR) / "mujoco.h").read_text()
    pattern = r"^MJAPI extern .*?\b(mjcb_\w+|mju_user_\w+|mjCOLLISIONFUNC)"
    yield from re.findall(pattern, header, re.MULTILINE)


def _laws() -> Iterator[str]:
    for kind in ("mjtDyn", "mjtGain", "mjtBias"):
        yield from _members(getattr(mujoco, kind), f"mj{kind.removeprefix('mjt').upper()}_")


_ELEMENT = re.compile(r"^( *)(\w+) \(.\) *(.*)$")
_LEVEL = 3  # spaces


def _schema() -> Iterator[tuple[str, str]]:
    """Yield the path of each element of MJCF, and its attributes; defaults have the same ones."""
    path: list[str] = []
    found: dict[str, list[str]] = {}
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if element := _ELEMENT.match(line):
            indent, name, attributes = element.groups()
            path = [*path[: len(indent) // _LEVEL], name]
        else:
            attributes = line
        found.setdefault("/".join(path[1:]) or path[0], []).extend(attributes.split())
    yield from ((name, " ".join(own)) for name, own in found.items() if "default" not in name)


def features() -> dict[str, set[str]]:
    """Return what the installed engine has, by the headings of the page."""
    return {
        "Arrays": set(engine_arrays()),
        "Options": set(_options()),
        "Sensors": {sensor_element(kind) for kind in mujoco.mjtSensor.__members__.values()},
        "Actuators": set(_actuators()),
        "Transmissions": set(_members(mujoco.mjtTrn, "mjTRN_", but=["undefined"])),
        "Dynamics, gains and biases": set(_laws()),
        "Plugins": set(filter(lambda name: name.startswith("mujoco."), registered_plugins())),
        "Callbacks": set(_callbacks()),
        "Elements and attributes": {
            f"{element} {attribute}".strip()
            for element, attributes in _schema()
            for attribute in attributes.split() or [""]
        },
    }


def _option_rows() -> Rows:
    known = read_options(mujoco.MjSpec().compile().opt).values()
    for name in _options():
        if name in known:
            yield name, f"parameter `physics.{name}`, key `{name}` of a scene"
        elif name == "flag.autoreset":
            yield name, "parameter `on_divergence`: the simulator itself resets, and reports it"
        else:
            raise KeyError(f"the engine's option '{name}' has no parameter")


def _sensor_rows() -> Rows:
    topics = dict(_ARRAYS)
    for kind in SENSOR_KINDS:
        for measurement in kind.measurements:
            for sensor in measurement.sensors:
                topic = f"`<ns>/{kind.key}/<name>`"
                name = sensor_element(sensor)
                topics[name] = f"{topics[name]}, {topic}" if name in topics else topic
    topics |= {sensor_element(kind): f"`<ns>/{STATES}`" for kind in QUANTITIES}
    return (
        (name, topics[name]) for name in map(sensor_element, mujoco.mjtSensor.__members__.values())
    )


def _actuators() -> Iterator[str]:
    yield from (element.partition("/")[2] for element, _ in _schema() if _ACTUATOR.match(element))


_ACTUATOR = re.compile(r"actuator/\w+$")


def _actuator_rows() -> Rows:
    """Yield what the simulator takes for an actuator of each kind."""
    for element in _actuators():
        text = _MODEL.format(element=element, target=_TARGETS.get(element, 'joint="j"'))
        simulation = Simulation(assemble_part(part_from_text(text, name="it")))
        (joints,) = simulation.plant.controlled
        takes = sorted(map(str, joints.interfaces[0]))
        yield element, f"{', '.join(takes)} of its joint" if takes else _CONTROLS


def _array_rows() -> Rows:
    for name, array in sorted(engine_arrays().items()):
        yield name, f"{array.kind} | {array.meaning.replace('|', '/')}"


def _listed(names: Iterable[str], where: Mapping[str, str]) -> Rows:
    """Return a row for each name; a KeyError names what has none."""
    return [(name, where[name]) for name in dict.fromkeys(names)]


_SECTIONS: dict[str, tuple[str, Callable[[], Rows]]] = {
    "Arrays": ("Array | Of each | Content, in the words of MuJoCo's header", _array_rows),
    "Options": ("Option or flag | ROS", _option_rows),
    "Sensors": ("Sensor | Topic", _sensor_rows),
    "Actuators": ("Actuator | Commanded by", _actuator_rows),
    "Transmissions": (
        "Transmission | Commanded by",
        lambda: _listed(_members(mujoco.mjtTrn, "mjTRN_", but=["undefined"]), TRANSMISSIONS),
    ),
    "Dynamics, gains and biases": ("Type | Commanded by", lambda: _listed(_laws(), LAWS)),
    "Plugins": (
        "Plugin | Page",
        lambda: ((name, _PLUGINS) for name in sorted(features()["Plugins"])),
    ),
    "Callbacks": ("Callback | ROS", lambda: _listed(_callbacks(), CALLBACKS)),
    "Elements and attributes": ("Element of MJCF | Attributes", _schema),
}


def engine_page() -> str:
    """Return the page, without the notice that it is generated."""
    parts = [_HEAD.format(version=mujoco.mj_versionString())]
    for heading, (columns, rows) in _SECTIONS.items():
        parts.append(f"## {heading}\n\n")
        if heading in _NOTES:
            parts.append(f"{_NOTES[heading]}\n\n")
        parts.append(f"| {columns} |\n|{' --- |' * (columns.count('|') + 1)}\n")
        parts += [f"| `{name}` | {content} |\n" for name, content in rows()]
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n"


_NOTES = {
    "Options": "[Parameters](parameters.md#of-the-world) has their ranges and descriptions.",
    "Sensors": "See [sensors](sensors.md).",
    "Actuators": "On a hinge without other actuators; see [what a joint takes](commands.md#what-a-joint-takes).",
    "Elements and attributes": "The engine reads them all, in the models of robots, objects and worlds.",
}


def listed(page: str, heading: str) -> set[str]:
    """Return the features in a section of a page, named as by `features`."""
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.MULTILINE)
    if heading != "Elements and attributes":
        return {name for name, _ in rows}
    return {
        f"{name} {attribute}".strip()
        for name, attributes in rows
        for attribute in attributes.split() or [""]
    }
