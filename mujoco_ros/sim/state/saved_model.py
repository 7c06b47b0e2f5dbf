"""The present model with its numbers and keyframes, as a file of one of several formats."""

import os
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.description import export_robot, mesh_uri
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.assembly import Assembly, adopt_options, merged_model
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.model.scene.engine_plugins import attributes_of
from mujoco_ros.model.scene.mjcf_files import ENGINE_ERRORS, silence_compiler
from mujoco_ros.sim.settings.element_properties import Property, Value, set_properties
from mujoco_ros.sim.settings.plugin_attributes import PluginAttribute, PluginAttributes
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.snapshots import Snapshot
from mujoco_ros.sim.state.state_transfer import transfer_data
from mujoco_ros.sim.state.state_vector import set_state, state_vector

FORMATS = (".xml", ".mjb", ".txt", ".urdf")
"""Suffixes of the files: MJCF, a compiled model, model and data as text, and a robot's URDF."""
_KEY_FIELDS = {
    "time": "time",
    "qpos": "qpos",
    "qvel": "qvel",
    "act": "act",
    "ctrl": "ctrl",
    "mpos": "mocap_pos",
    "mquat": "mocap_quat",
}
"""Field of MjData by attribute of a keyframe."""
_DIGITS = "% -17.9g"
_AUTORESET = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


@dataclass(frozen=True)
class PresentModel:
    """What a simulation has at one instant, to be saved by another thread."""

    assembly: Assembly
    layout: ModelLayout
    options: Any
    values: Mapping[Property, Value]
    attributes: Mapping[PluginAttribute, float]
    state: np.ndarray
    motors: np.ndarray  # controls of torque motors, which are servos in the engine here
    keyframes: Mapping[str, Snapshot]

    @classmethod
    def of(cls, simulation: Simulation, keyframes: Mapping[str, Snapshot]) -> "PresentModel":
        """Note it, between two steps."""
        model, drives = simulation.model, simulation.drives
        motors = [
            int(model.actuator_ctrladr[actuator])
            for joint in drives.servo_joints
            for actuator in drives.actuators(joint)
        ]
        return cls(
            simulation.assembly,
            simulation.layout,
            copy(model.opt),
            dict(simulation.properties.saved),
            simulation.plant.plugin_attributes.values(),
            state_vector(model, simulation.data),
            np.array(motors, dtype=np.intp),
            dict(keyframes),
        )

    def content(self, suffix: str, robot: str = "") -> bytes:
        """Return the content of a file of one of `FORMATS`; slow.

        Motors are motors again, and paths of meshes are absolute. The engine writes numbers of an
        MJCF with six digits. `robot` names the robot of a URDF if the scene has several.

        Raises:
            UserInputError: A compiled model cannot be an MJCF, the engine refuses, or the robot of
                a URDF is not in the scene.
        """
        try:
            if suffix == ".urdf":
                return self._as_urdf(robot)
            return self._as_text() if suffix == ".txt" else self._compiled(suffix)
        except ENGINE_ERRORS as error:
            raise UserInputError(
                f"the model cannot be saved: {' '.join(str(error).split())}"
            ) from error

    def _as_urdf(self, name: str) -> bytes:
        robots = {robot.name: robot for robot in self.layout.robots}
        if len(robots) != 1 and name not in robots:
            raise unknown(
                "robot", name, robots, where="a URDF has one robot, named by its file, <robot>.urdf"
            )
        robot = robots.get(name, self.layout.robots[0])
        return export_robot(self.assembly.model, robot, mesh_uri, robot.name).encode()

    def _as_text(self) -> bytes:
        model = self.assembly.model
        data = mujoco.MjData(model)
        set_state(model, data, self.state)
        mujoco.mj_forward(model, data)
        with TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("model", "data")]
            mujoco.mj_printFormattedModel(model, paths[0], _DIGITS)
            mujoco.mj_printFormattedData(model, data, paths[1], _DIGITS)
            return b"\n".join(Path(path).read_bytes() for path in paths)

    def _compiled(self, suffix: str) -> bytes:
        with silence_compiler():
            spec, model = merged_model(self.assembly)
            adopt_options(spec.option, self.options)
            spec.option.disableflags &= ~_AUTORESET  # which the simulator alone needs
            set_properties(model, self.values)
            spec.copy_back(model)
            PluginAttributes(model).set(self.attributes)
            for instance in spec.plugins:
                texts = {
                    name: model.plugin_attr[text].tobytes().decode()
                    for name, text in attributes_of(model, instance.id)
                }
                instance.config = {name: text for name, text in texts.items() if text}
            for which, value in self.values.items():
                if which.attribute == "gravcomp":  # which the engine does not copy back
                    spec.body(which.name).gravcomp = value[0]
            for name, snapshot in self.keyframes.items():
                self._add_keyframe(spec, model, name, snapshot)
            if suffix == ".xml":
                return self._with_uris(spec.to_xml()).encode()
            model = spec.compile()
        binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, binary)
        return binary.tobytes()

    def _with_uris(self, xml: str) -> str:
        """Return an MJCF in which what providers of the engine deliver has its URIs again."""
        for files in (self.assembly.base_files, *(part.files for part in self.assembly.parts)):
            for file in files:
                if file.uri:
                    xml = xml.replace(f'"{file.path}"', quoteattr(file.uri))
        return xml

    def _add_keyframe(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, name: str, snapshot: Snapshot
    ) -> None:
        saved, data = mujoco.MjData(snapshot.model), mujoco.MjData(self.assembly.model)
        set_state(snapshot.model, saved, snapshot.state)
        transfer_data(saved, data, Correspondence(snapshot.assembly, self.assembly))
        data.ctrl[self.motors] = 0.0
        for key in [key for key in spec.keys if key.name == name]:
            spec.delete(key)
        fields = {key: np.array(getattr(data, field)).ravel() for key, field in _KEY_FIELDS.items()}
        spec.add_key(name=name, **fields | {"time": float(data.time)})
