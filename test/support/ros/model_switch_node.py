"""A stepped node whose model changes at run time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from simulators import ROOT
from stepped_node import SteppedNode

from mujoco_ros.bridge.model_switch import ModelSwitch
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import Assembly, rebuild
from mujoco_ros.model.scene.config import RobotConfig
from mujoco_ros.model.scene.parts import ScenePart, part_from_file

ARM = ROOT / "urdf_mjcf" / "arm"
BOX = ROOT / "urdf_mjcf" / "objects" / "box.xml"


def arm(name: str, **options: Any) -> ScenePart:
    """The shipped arm at x = 2 m."""
    pose = PoseConfig(xyz=(2.0, 0.0, 0.0))
    part = part_from_file(ARM / "arm.xml", name=name, pose=pose, **options)
    assert isinstance(part.config, RobotConfig)
    return replace(part, config=replace(part.config, gains=str(ARM / "gains.yaml")))


def adding(*parts: ScenePart) -> Callable[[Assembly], Assembly]:
    return lambda assembly: rebuild(assembly, add=parts)


def removing(*names: str) -> Callable[[Assembly], Assembly]:
    return lambda assembly: rebuild(assembly, remove=names)


class ModelSwitchNode(SteppedNode):
    """A stepped node that can switch its model."""

    def __init__(self, scene: str, **options: Any) -> None:
        super().__init__(scene, **options)
        self.components = [self._publishers, self.controllers]
        self.world = ModelSwitch(self.node, self.simulation, self.components)

    def request(
        self, build: Callable[[Assembly], Assembly], *, fresh: bool = False
    ) -> list[Exception | None]:
        """Request a change; its result is appended to the returned list."""
        done: list[Exception | None] = []
        self.world.change(build, done.append, fresh=fresh)
        return done

    def wait(self, done: list[Exception | None]) -> Exception | None:
        """Step until a change has ended, and return its error."""

        def ended() -> bool:
            self.step()
            return bool(done)

        assert self.listener.spin_until(ended)
        return done[0]

    def change(self, build: Callable[[Assembly], Assembly], *, fresh: bool = False) -> None:
        """Change the model while stepping."""
        error = self.wait(self.request(build, fresh=fresh))
        if error is not None:
            raise error

    def topics(self) -> set[str]:
        """Topics of this node, without the slash before them."""
        names = self.node.get_publisher_names_and_types_by_node("mujoco", "/")
        names += self.node.get_subscriber_names_and_types_by_node("mujoco", "/")
        return {name.removeprefix("/") for name, _ in names}

    def services(self) -> set[str]:
        names = self.node.get_service_names_and_types_by_node("mujoco", "/")
        return {name.removeprefix("/") for name, _ in names}
