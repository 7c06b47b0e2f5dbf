"""The measured sensors, joint states and floating bases of one robot."""

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.realism_config import (
    SECTIONS,
    BaseChannel,
    Entry,
    JointChannel,
    SensorChannel,
)
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.robot_sensors import Distances
from mujoco_ros.model.sensors.sensor_states import sensor_type
from mujoco_ros.sim.realism.channel import ERRORS, ChannelPart, ImperfectChannel
from mujoco_ros.sim.sample import Sample

_QUATERNION = mujoco.mjtDataType.mjDATATYPE_QUATERNION
_TRUE = {
    "measured_qpos": "qpos",
    "measured_qvel": "qvel",
    "measured_effort": "qfrc_actuator",
}
"""Array of the sample with the true numbers by that with the measured ones."""
_MEASURED = tuple(_TRUE)
_POSE, _TWIST = 7, 6
"""Numbers of the pose and of the twist of a floating base."""

Addresses = set[tuple[str, int]]
"""Names of arrays of the sample, and addresses in them."""


class Measurements:
    """Turns the true numbers of a sample into those that the robot measures."""

    def __init__(
        self,
        key: str,
        seed: int,
        model: mujoco.MjModel,
        robot: RobotLayout,
        entries: Iterable[Entry],
        sample: Sample,
    ) -> None:
        self._sample, self._size = sample, 0
        self._moves: list[tuple[np.ndarray, np.ndarray, np.ndarray, slice]] = []
        self._widths: list[tuple[Entry, int]] = []
        self.addresses: Addresses = set()  # where the measured numbers are in the sample
        sensordata: list[int] = []
        quaternions: list[slice] = []
        taken: dict[str, str] = {}
        for entry in sorted(entries, key=lambda entry: list(SECTIONS).index(entry.section)):
            place = f"realism of robot '{robot.name}': {entry.section}.{entry.name}"
            if entry.section == "sensors":
                for group in _sensors(model, robot, entry, place):
                    claim(taken, [f"sensor {model.sensor(each).name}" for each in group], place)
                    numbers = [number for each in group for number in _numbers(model, each)]
                    sensordata += numbers
                    self._widths.append((entry, len(numbers)))
                self._size = len(sensordata)
            elif entry.section == "joints":
                names = entry.selection.select(robot.joints.names, "joint", place)
                claim(taken, [f"joint {name}" for name in names], place)
                which = np.flatnonzero(np.isin(robot.joints.names, names))
                qpos, dof = robot.joints.qpos[which], robot.joints.dof[which]
                for name, at in zip(_MEASURED, (qpos, dof, dof), strict=True):
                    self._move(name, at)
                self._widths.append((entry, 3 * len(which)))
            elif entry.section == "bases":
                every = {base.name: base for base in robot.bases}
                names = entry.selection.select(every, "floating base", place)
                claim(taken, [f"base {name}" for name in names], place)
                starts = [self._size + _POSE * index + 3 for index in range(len(names))]
                quaternions += [slice(start, start + 4) for start in starts]
                self._move("measured_qpos", _from([every[n].qpos for n in names], _POSE))
                self._move("measured_qvel", _from([every[n].dof for n in names], _TWIST))
                self._widths.append((entry, (_POSE + _TWIST) * len(names)))
        self._widths = [(entry, width) for entry, width in self._widths if width]
        self._sensordata = np.array(sensordata, dtype=np.intp)
        self.addresses |= {("sensordata", address) for address in sensordata}
        self._truth = np.zeros(self._size)
        correct = _Correction(model, self._sensordata, quaternions)
        self.channel = ImperfectChannel(key, seed, self._size, correct if correct.acts else None)

    def _move(self, measured: str, at: np.ndarray) -> None:
        """Add the numbers at addresses in an array of measured numbers."""
        part, sample = slice(self._size, self._size + len(at)), self._sample
        self._moves.append((getattr(sample, _TRUE[measured]), getattr(sample, measured), at, part))
        self._size = part.stop
        self.addresses |= {(measured, int(address)) for address in at}

    def configure(self, entries: Iterable[Entry], timestep: float) -> None:
        """Set the settings of the entries, and the simulated time of a step [s]."""
        settings = {(each.section, each.name): each.settings for each in entries}
        self.channel.configure(
            [_stream(n, settings[entry.section, entry.name]) for entry, n in self._widths], timestep
        )

    def update(self) -> None:
        """Replace the true numbers in the sample by the measured ones."""
        truth, readings = self._truth, self._sample.sensordata
        count = len(self._sensordata)
        readings.take(self._sensordata, out=truth[:count], mode="clip")
        for source, _, at, part in self._moves:
            source.take(at, out=truth[part], mode="clip")
        self.channel.update(truth)
        output = self.channel.output
        readings[self._sensordata] = output[:count]
        for _, measured, at, part in self._moves:
            measured[at] = output[part]


def _sensors(
    model: mujoco.MjModel, robot: RobotLayout, entry: Entry, where: str
) -> list[tuple[int, ...]]:
    """Return the MuJoCo sensors of an entry, in groups that are transported together: by topic."""
    topics: list[Sequence[int]] = [sensor.elements for sensor in robot.every_sensor]
    topics += [(state.element,) for state in robot.states]
    topics += [(array.element,) for array in robot.arrays]
    every = list(dict.fromkeys(element for elements in topics for element in elements))
    names = {
        sensor: model.sensor(sensor).name.removeprefix(robot.prefix) or f"sensor{sensor}"
        for sensor in every
    }
    selected = set(entry.selection.select(names.values(), "sensor", where))
    kind = entry.selection.type
    if kind and f"mjSENS_{kind.upper()}" not in mujoco.mjtSensor.__members__:
        known = [name.removeprefix("mjSENS_").lower() for name in mujoco.mjtSensor.__members__]
        raise unknown("type of sensor", kind, known, where=where)
    found: list[tuple[int, ...]] = []
    taken: set[int] = set()
    for elements in topics:
        group = tuple(
            element
            for element in elements
            if names[element] in selected
            and element not in taken
            and (not kind or sensor_type(model, element) == kind)
        )
        taken.update(group)
        found += [group] if group else []
    return found


def claim(taken: dict[str, str], elements: Iterable[str], place: str) -> None:
    """Note that elements belong to the entry at a place, unless they belong to another one."""
    for element in elements:
        if element in taken:
            raise UserInputError(
                f"{place}: {element} belongs to {taken[element].rpartition(': ')[2]} as well; "
                "an element can be in one entry"
            )
        taken[element] = place


def _numbers(model: mujoco.MjModel, sensor: int) -> range:
    first = int(model.sensor_adr[sensor])
    return range(first, first + int(model.sensor_dim[sensor]))


def _stream(count: int, settings: object) -> ChannelPart:
    """Return the part of a channel with the numbers of an entry."""
    if isinstance(settings, SensorChannel):
        errors = {name: getattr(settings, name) for name in ERRORS}
        return ChannelPart(count=count, transport=settings, **errors)
    if isinstance(settings, BaseChannel):  # the poses of bases, and then their twists
        bases = count // (_POSE + _TWIST)
        # A rotation by a small angle has half of it in the vector of its quaternion.
        half = 0.5 * settings.orientation_noise
        pose = (*(settings.position_noise,) * 3, *(half,) * 4)
        twist = (*(settings.velocity_noise,) * 3, *(settings.angular_velocity_noise,) * 3)
        walk = (*(settings.position_walk,) * 3, *(0.0,) * 4)
        return ChannelPart(
            count=count,
            transport=settings,
            noise=pose * bases + twist * bases,
            bias_walk=walk * bases + (0.0,) * (_TWIST * bases),
        )
    assert isinstance(settings, JointChannel)

    def rows(*of_each: float) -> tuple[float, ...]:
        return tuple(number for number in of_each for _ in range(count // 3))

    return ChannelPart(
        count=count,
        transport=settings,
        noise=rows(settings.position_noise, settings.velocity_noise, settings.effort_noise),
        bias=rows(settings.position_bias, 0.0, settings.effort_bias),
        quantisation=rows(
            settings.position_quantisation,
            settings.velocity_quantisation,
            settings.effort_quantisation,
        ),
    )


def _from(starts: Iterable[int], count: int) -> np.ndarray:
    """Return `count` addresses from each start on."""
    return np.array([start + offset for start in starts for offset in range(count)], dtype=np.intp)


class _Correction:
    """Keeps the length of quaternions, and the sign and the limits of distances, in samples."""

    def __init__(
        self, model: mujoco.MjModel, addresses: np.ndarray, quaternions: Iterable[slice]
    ) -> None:
        """Find them among the first numbers, at `addresses`; `quaternions` are no sensor data."""
        place = {int(address): index for index, address in enumerate(addresses)}
        kinds = zip(model.sensor_adr.tolist(), model.sensor_datatype, strict=True)
        starts = [place[at] for at, kind in kinds if kind == _QUATERNION and at in place]
        self._quaternions = [*(slice(start, start + 4) for start in starts), *quaternions]
        self._distances = distances = Distances(model)
        found = [address for address in distances.addresses.tolist() if address in place]
        self._addresses = np.array(found, dtype=np.intp)
        self._places = np.array([place[address] for address in found], dtype=np.intp)
        self._readings = np.zeros(model.nsensordata)
        self._place = np.full(model.nsensordata, -1, dtype=np.intp)
        self._place[self._addresses] = self._places

    @property
    def acts(self) -> bool:
        """Whether there are quaternions or distances."""
        return bool(self._quaternions or len(self._places))

    def __call__(self, sample: np.ndarray, truth: np.ndarray) -> None:
        """Correct a sample of the true numbers."""
        for slots in self._quaternions:
            length = np.linalg.norm(sample[slots])
            sample[slots] = sample[slots] / length if length > 0.0 else truth[slots]
        places = self._places
        if len(places):
            sample[places] = np.maximum(sample[places], 0.0)
            self._readings[self._addresses] = truth[places]
            missed = self._place[self._distances.out_of_range(self._readings)]
            missed = missed.compress(missed >= 0)
            sample[missed] = truth[missed]
