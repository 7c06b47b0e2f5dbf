"""What is made from the model, and follows when the model changes."""

from mujoco_ros.sim.plant import Plant


class ModelChangeListener:
    """Goes along with a change of the model, step by step; each does nothing unless overridden.

    `draft`, `prepare`, `switch` and `finish` are called once each, in this order, with other
    things happening between them; or else `abort`, after `draft` or `prepare` at the latest.
    """

    def draft(self, plant: Plant) -> None:
        """Do what takes long, in a thread of its own, while the present model is simulated.

        Other threads use this object meanwhile.

        Raises:
            ModelError: The change is impossible; it is given up.
        """

    def prepare(self, plant: Plant) -> None:
        """Get ready for what the next model brings, in the executor's thread.

        Raises:
            ModelError: The change is impossible; it is given up.
        """

    def switch(self) -> None:
        """Go over to what was prepared, in the physics thread, between two steps: quickly."""

    def finish(self) -> None:
        """Offer what is new and destroy what is gone, in the executor's thread."""

    def abort(self) -> None:
        """Forget what was prepared, if anything was, in the executor's thread."""
