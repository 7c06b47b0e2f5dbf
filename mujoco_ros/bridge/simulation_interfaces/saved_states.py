"""Services that save the model and keyframes, load keyframes, and return to a past state."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from std_srvs.srv import Trigger

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.simulation_interfaces.interfaces import BackgroundWorker
from mujoco_ros.bridge.simulation_interfaces.resetting import rewinds
from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.model.file_cache import output_folder, output_path
from mujoco_ros.model.output_files import check_below, complete_file
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service
from mujoco_ros.sim.state.saved_model import FORMATS, PresentModel
from mujoco_ros.sim.state.snapshots import Keyframes
from mujoco_ros.wire.parameter_spec import ParameterSpec

_FILE = "model_file"


class SavedStateServices(Component):
    """Saves, loads and deletes the keyframe ``active_keyframe``; saves the model.

    It also loads the past state ``history_time``.
    """

    parameters = (
        ParameterSpec(
            "active_keyframe",
            "saved",
            "Keyframe that ~/save_keyframe saves and ~/load_keyframe loads: one of the model, or "
            "any other name; ~/delete_keyframe deletes a saved one, or all if this is empty",
            longest=200,
        ),
        ParameterSpec(
            _FILE,
            "model.xml",
            "New file below `output_folder` that ~/save_model writes: .xml is the present model "
            "with its changed numbers and saved keyframes as MJCF, .mjb the same compiled, .txt "
            "model and data as text, .urdf the robot (of several, the one the file is named after)",
            longest=1000,
        ),
        ParameterSpec(
            "history_time",
            0.0,
            "Simulated time of the past state that ~/load_past_state loads [s]; that is the last "
            "one not later than it",
            low=0.0,
            high=1e9,
        ),
    )

    def __init__(self, context: NodeContext, load_past: Callable[[float, bool], float]) -> None:
        """Serve them; `load_past` is `SegmentWriter.load_past`."""
        self._values, self._run = context.values, context.run
        self._commands, self._load_past = context.simulation.commands, load_past
        self._keyframes, self._simulation = Keyframes(context.simulation), context.simulation
        self._background = BackgroundWorker()
        Service(context.node, Trigger, "~/save_keyframe", self._save)
        Service(context.node, Trigger, "~/load_keyframe", self._load)
        Service(context.node, Trigger, "~/delete_keyframe", self._delete)
        Service(context.node, Trigger, "~/save_model", self._save_model)
        Service(context.node, Trigger, "~/load_past_state", self._return)

    def _save(self, _request: Trigger.Request, responder: Responder) -> None:
        name = self._values["active_keyframe"]
        responder.run(
            self._commands,
            lambda: self._keyframes.save(name),
            lambda time: responder.succeed(f"saved '{name}' at {time:.6f} s"),
        )

    def _load(self, _request: Trigger.Request, responder: Responder) -> None:
        name, rewind = self._values["active_keyframe"], rewinds(self._values)

        def load() -> float:
            time = self._keyframes.load(name, rewind=rewind)
            self._run.end_steps("a keyframe was loaded")
            self._run.leave_start()
            return time

        responder.run(
            self._commands,
            load,
            lambda time: responder.succeed(f"loaded '{name}'; the time is {time:.6f} s"),
        )

    def _delete(self, _request: Trigger.Request, responder: Responder) -> None:
        name = self._values["active_keyframe"].strip()
        responder.run(
            self._commands,
            lambda: self._keyframes.delete(name),
            lambda count: responder.succeed(f"deleted {counted(count, 'saved keyframe')}"),
        )

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject a file that the model cannot be saved to."""
        if _FILE in values:
            self._path(values[_FILE])

    def _path(self, name: str) -> Path:
        path = output_path(self._folder, name, "model file")
        check_below(path, self._folder, "model file")
        if path.suffix not in FORMATS:
            raise UserInputError(
                f"model file '{path}' has the suffix '{path.suffix}'; it is one of "
                f"{', '.join(FORMATS)}"
            )
        return path

    @property
    def _folder(self) -> Path:
        return output_folder(self._values["output_folder"])

    def _save_model(self, _request: Trigger.Request, responder: Responder) -> None:
        name = self._values[_FILE]

        def save(present: PresentModel) -> str:
            try:
                path = self._path(name)
                content = present.content(path.suffix, path.stem)
                with complete_file(path, "model file", below=self._folder) as file:
                    file.write(content)
            except UserInputError as error:
                raise RequestRejectedError(str(error)) from error
            return f"saved '{path}'"

        responder.run(
            self._commands,
            lambda: PresentModel.of(self._simulation, self._keyframes.saved),
            lambda present: self._background.run(responder, lambda: save(present)),
        )

    def _return(self, _request: Trigger.Request, responder: Responder) -> None:
        wanted, rewind = self._values["history_time"], rewinds(self._values)

        def load() -> float:
            time = self._load_past(wanted, rewind)
            self._run.pause()
            return time

        responder.run(
            self._commands,
            load,
            lambda time: responder.succeed(f"paused in the state of {time:.6f} s"),
        )
