"""Cameras of a hosted controller, which gets a requested image after a fixed delay."""

from collections.abc import Collection
from concurrent.futures import Future
from typing import Any

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.runtime.render_worker import RenderRequest
from mujoco_ros.controllers.runtime.robot_model import PendingImage, robot_cameras, unknown_camera
from mujoco_ros.process.worker_process import WorkerProcess
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.model_edits import gather

_PROCESS = "mujoco_ros.controllers.runtime.render_worker"


class ControllerCameras:
    """Renders images of ticks in a separate process.

    An image is delivered at the first tick that is `DELAY_S` after its request, or at the next one
    if the controller waits for it, however long the machine renders.
    """

    def __init__(self, plant: Plant, index: int, seed: int, backend: str) -> None:
        """Serve the robot with an index; `seed` is the seed of the cameras' noise."""
        self._cameras = robot_cameras(plant.layout, index)
        self._plant = plant
        self._pending: list[PendingImage] = []
        self._setup = lambda: (plant.model, backend, seed)
        self._worker = WorkerProcess(_PROCESS, self._setup)

    def request(self, camera: str, sampled: float, time: float) -> "Future[Image]":
        """Request an image of the sample of a time [s], for the tick at `time` [s].

        The future fails with LookupError for an unknown camera, RenderingError without an image.
        """
        if camera not in self._cameras:
            return unknown_camera(camera, self._cameras)
        plant = self._plant
        request = RenderRequest(
            camera=self._cameras[camera],
            time=sampled,
            tick=time,
            qpos=plant.sample.qpos.copy(),
            mocap_pos=plant.data.mocap_pos.copy(),
            mocap_quat=plant.data.mocap_quat.copy(),
            model_values=gather(plant.model),
        )
        pending = PendingImage(time, self._worker.submit(request))
        self._pending.append(pending)
        return pending.delivered

    def unfinished(self, time: float, awaited: Collection["Future[Any]"]) -> list["Future[Image]"]:
        """Return the renderings that the tick at `time` [s] needs and that are not done."""
        due = self._due(time, awaited)
        return [request.received for request in due if not request.received.done()]

    def deliver(self, time: float, awaited: Collection["Future[Any]"]) -> None:
        """Complete the requests that are due at a tick, whose renderings are done."""
        for request in self._due(time, awaited):
            self._pending.remove(request)
            request.deliver()

    def owns(self, future: "Future[Any]") -> bool:
        """Return whether a future is a request in flight."""
        return any(request.delivered is future for request in self._pending)

    def take_over(self, other: "ControllerCameras") -> None:
        """Continue with the pending requests and the process of a replaced model."""
        self._pending += other._pending
        other._pending = []
        self._worker = other._worker
        self._worker.prepare(self._setup)

    def cancel(self) -> None:
        """Cancel all requests."""
        for request in self._pending:
            request.received.cancel()
            request.delivered.cancel()
        self._pending.clear()

    def close(self) -> None:
        """Cancel all requests and end the process."""
        self.cancel()
        self._worker.close()

    def _due(self, time: float, awaited: Collection["Future[Any]"]) -> list[PendingImage]:
        return [request for request in self._pending if request.is_due(time, awaited)]
