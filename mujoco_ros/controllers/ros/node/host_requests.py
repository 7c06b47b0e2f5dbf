"""What a controller requests from a robot or simulator beside its commands."""

from collections.abc import Sequence

from mujoco_ros.controllers.ros.node.image_requests import ImageRequests
from mujoco_ros.controllers.ros.node.placement import PlacementClient
from mujoco_ros.controllers.ros.node.remote_gains import RemoteGains


class HostRequests:
    """The gains, poses and images that a controller requests.

    In lockstep, the clock waits for the command of a tick. A command that is published after the
    changes of its tick are confirmed acts in the same step as they do, and an image that arrives
    before it shows the state of the tick.
    """

    def __init__(
        self, gains: RemoteGains, placement: PlacementClient, images: ImageRequests
    ) -> None:
        self._gains, self._placement, self._images = gains, placement, images

    @property
    def settled(self) -> bool:
        """Whether all changes of gains and poses act, and the images of the tick are there."""
        return not (self._gains.busy or self._placement.busy or self._images.busy)

    def deliver(self, time: float, awaited: Sequence[object]) -> None:
        """Deliver the images that are due at a tick at a time [s], or awaited."""
        self._images.deliver(time, awaited)

    def restart(self) -> None:
        """Discard requested images, and read the gains again, which a reset may have changed."""
        self._images.reset()
        self._gains.refresh()
