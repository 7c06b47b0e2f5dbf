"""The node `mujoco_cameras`: what cameras and lidars see of a simulation in another process."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from rclpy.node import Node

from mujoco_ros.bridge.log_handler import RosLogHandler
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import ParameterListener, Parameters
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.cameras.ros.diagnostics import CameraDiagnostics
from mujoco_ros.cameras.ros.frame_scheduler import LOOK_S, FrameScheduler
from mujoco_ros.cameras.ros.shared_renderer import LOOKS, SharedRenderer
from mujoco_ros.cameras.ros.source import FrameSource
from mujoco_ros.cameras.ros.sources import sources
from mujoco_ros.sim.shared_memory.reader import SharedState

NAME = "mujoco_cameras"
_OPENING_S = 60.0
"""How long it may take to open all topics, on a busy machine."""


class CameraNode(Node, ParameterListener):
    """Publishes what cameras and lidars see, and contacts, while somebody listens.

    It reads the state from shared memory, so the simulation neither waits for it nor is disturbed.
    Call `turn` and spin it in one thread, in turns.
    """

    failure: BaseException | None = None

    def __init__(self, state: SharedState, rendering: str, seed: int) -> None:
        """Open the topics of everything in the present model.

        Args:
            state: The state of the simulation.
            rendering: What draws: auto, egl or osmesa.
            seed: Seed of the noise of cameras and lidars.
        """
        state.beat(_OPENING_S)
        super().__init__(NAME)
        package_log = logging.getLogger("mujoco_ros")
        package_log.addHandler(RosLogHandler(self.get_logger()))
        package_log.setLevel(logging.INFO)
        self._state, self._seed = state, seed
        self._endpoints = Endpoints(self, LOOK_S)
        self._pool = PublisherPool(self._endpoints)
        self._drawing = SharedRenderer(rendering)
        self._specs: dict[str, ParameterSpec] = {}
        self._settings = Parameters(self)
        self._drawing.change(self._settings.declare([LOOKS]))
        self._watch = FrameScheduler(state, self._follow_model)
        self._settings.listeners.append(self)
        self._figures = CameraDiagnostics(
            self._endpoints, lambda: self._watch.sources, self._drawing.report, lambda: state.time
        )

    @property
    def leaving(self) -> bool:
        """Whether the simulator has ended."""
        return self._state.ended

    def start(self) -> None:
        """Do nothing: there is no thread to start."""

    def stop(self) -> None:
        """Let go of the state."""
        self._state.close()

    def turn(self) -> float:
        """Do what is due, a frame at most; return for how long nothing more will be [s]."""
        return self._watch.turn()

    def _follow_model(self) -> Sequence[FrameSource]:
        """Return what is computed of the present model, its topics open and parameters declared.

        A parameter that the model before had as well keeps its value.
        """
        state = self._state
        state.beat(_OPENING_S)
        made = sources(state.model, state.layout, self._pool, self._drawing, self._seed)
        self._pool.close_others(p for it in made for p in (*it.publishers, *it.latched))
        specs = {spec.name: spec for source in made for spec in source.specs()}
        self._settings.withdraw([n for n, spec in self._specs.items() if specs.get(n) != spec])
        new = [spec for name, spec in specs.items() if name not in self._settings.names]
        # A camera's settings that cannot be are no reason to be without all the others.
        self._settings.declare(new, self._settings.initial(new, strict=False))
        self._specs = specs
        for source in made:
            source.change(self._settings.values)
        return made

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        """Apply settings of the renderer and of the cameras."""
        self._drawing.change(values)
        for source in self._watch.sources:
            source.change(values)
