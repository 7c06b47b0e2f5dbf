"""The cameras of a simulation, for its controller: asked now, answered at a fixed time later."""

from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.runtime.render_worker import RenderRequest
from mujoco_ros.model.errors import unknown
from mujoco_ros.process.worker_process import WorkerProcess
from mujoco_ros.sim.plant import Plant

DELAY_S = 0.1
"""Simulated time from asking for an image to having it: a camera takes, sends and is read."""
_ROUNDING_S = 1e-9
_PROCESS = "mujoco_ros.controllers.runtime.render_worker"


@dataclass(eq=False, slots=True)
class _Asked:
    """An image that is being drawn.

    Attributes:
        due: When it is handed over at the latest [s].
        drawn: What the process that draws makes of it.
        told: What the controller was given.
    """

    due: float
    drawn: "Future[Image]"
    told: "Future[Image]"


class ControllerCameras:
    """Has drawn what cameras see at a tick, in a process of its own.

    An image is handed over at the first tick that is `DELAY_S` later, or at the next one if the
    controller waits for it, whenever it was drawn: what happens does not depend on the machine.
    """

    def __init__(self, plant: Plant, index: int, seed: int) -> None:
        """See with the cameras of the robot with an index, and those that are nobody's."""
        layout = plant.layout
        self._cameras = {camera.name: camera for camera in layout.every_camera}
        self._cameras |= {camera.name: camera for camera in layout.robots[index].cameras}
        self._plant = plant
        self._asked: list[_Asked] = []
        self._painter = WorkerProcess(_PROCESS, lambda: (plant.model, seed))

    def look(self, camera: str, time: float) -> "Future[Image]":
        """Have an image drawn of the present sample.

        Args:
            camera: Name of a camera; the robot's own go before others of the same name.
            time: Of the sample [s].

        Returns:
            The image. It fails with LookupError if there is no such camera, and with
            RenderingError where nothing can be drawn.
        """
        told: Future[Image] = Future()
        if camera not in self._cameras:
            told.set_exception(LookupError(str(unknown("camera", camera, self._cameras))))
            return told
        data = self._plant.data
        sight = RenderRequest(
            camera=self._cameras[camera],
            time=time,
            qpos=self._plant.sample.qpos.copy(),
            mocap_pos=data.mocap_pos.copy(),
            mocap_quat=data.mocap_quat.copy(),
        )
        drawn: Future[Image] = self._painter.ask(sight)
        self._asked.append(_Asked(due=time + DELAY_S, drawn=drawn, told=told))
        return told

    def lacking(self, time: float, awaited: Collection["Future[Any]"]) -> list["Future[Image]"]:
        """Return what must be drawn before the tick at `time` [s], given what is awaited."""
        return [it.drawn for it in self._due(time, awaited) if not it.drawn.done()]

    def hand_over(self, time: float, awaited: Collection["Future[Any]"]) -> None:
        """Complete what is due at the tick at `time` [s]; nothing is `lacking`."""
        for it in self._due(time, awaited):
            self._asked.remove(it)
            if it.told.cancelled():
                continue
            error = it.drawn.exception()
            if error is None:
                it.told.set_result(it.drawn.result())
            else:
                it.told.set_exception(error)

    def gives(self, future: "Future[Any]") -> bool:
        """Return whether a future is an image that will be handed over."""
        return any(it.told is future for it in self._asked)

    def take_over(self, other: "ControllerCameras") -> None:
        """Hand over what another one, of a model that is gone, was asked for."""
        self._asked += other._asked
        other._asked = []
        other.retire()

    def forget(self) -> None:
        """Give up all images."""
        for it in self._asked:
            it.drawn.cancel()
            it.told.cancel()
        self._asked.clear()

    def retire(self) -> None:
        """Draw nothing more but what was asked for."""
        self._painter.finish()

    def close(self) -> None:
        """Draw nothing more."""
        self.forget()
        self._painter.close()

    def _due(self, time: float, awaited: Collection["Future[Any]"]) -> list[_Asked]:
        latest = time + _ROUNDING_S
        return [it for it in self._asked if it.due <= latest or it.told in awaited]
