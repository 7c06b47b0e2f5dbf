"""The button that plays or pauses the simulation."""

from mujoco_ros.viewer.clients import PAUSED, PLAYING
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.ros.run_state import run_status

TONES = {PLAYING: "good", PAUSED: "warning"}
"""Tones of run states; the others are bad."""


class RunButton:
    """Plays a paused simulation; pauses another one, also on a page that has no control."""

    def __init__(self, session: Session, look: str = "") -> None:
        """Create the button in the container that is active."""
        self._session, self._simulation = session, session.clients.simulation
        self._button = widgets.button("Pause", self._act, look=look, tip="Space", is_safe=True)

    @property
    def status(self) -> str:
        """The run state; empty while the simulator does not respond."""
        return run_status(self._simulation, paused=self._session.state.paused)

    def refresh(self) -> None:
        """Show what the button does."""
        is_paused = self.status == PAUSED
        self._button.set(text="Play" if is_paused else "Pause")
        self._button.enable(self._session.can_control or not is_paused)

    def _act(self) -> None:
        if self.status != PAUSED:
            self._simulation.pause()
        elif self._session.can_control:
            self._simulation.play()
