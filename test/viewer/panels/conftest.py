"""A still simulation, and clients that record."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from fake_clients import FakeClients
from panel_frames import Frames
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.panels import panels
from mujoco_ros.viewer.panels.panel import Panel

PanelType = type[Panel]


class Uploads(list):
    """A viewer that records its uploads: number and size of the texture."""

    def upload_image(self, texture: int, pixels: bytes, width: int, height: int, depth: int) -> int:
        assert len(pixels) == width * height * depth
        self.append((texture, width, height))
        return texture or len(self)


@pytest.fixture(scope="session")
def arm() -> StillState:
    return StillState("arm")


@pytest.fixture
def state(arm) -> StillState:
    """The arm at its joint references."""
    mujoco.mj_resetData(arm.model, arm.data)
    joints = [robot.joints for robot in arm.layout.robots]
    arm.references = References.holding(np.concatenate([arm.data.qpos[j.qpos] for j in joints]))
    arm.time, arm.factor, arm.paused = 0.0, 1.0, False
    return arm


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def show(context, state, clients, monkeypatch) -> Callable[[PanelType], Frames]:
    """Return frames of a panel of that kind, two of which were built."""

    def shown(kind: PanelType) -> Frames:
        built = {type(panel): panel for panel in panels(state, clients, EntityDisplays(state))}
        panel = built[kind] if kind in built else kind(state)
        panel.viewer = Uploads()
        frames = Frames(panel, monkeypatch)
        frames.build(2)
        return frames

    return shown
