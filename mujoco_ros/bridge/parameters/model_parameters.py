"""Parameters that elements of the model bring, and that go with them."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.parameter_spec import ParameterSpec

E = TypeVar("E")


class ModelParameters(Component, Generic[E]):
    """The parameters of elements that are in the model, which they configure.

    One that remains keeps its parameter. `prepare` of a subclass calls `_find` with what the next
    model has.
    """

    remedy: ClassVar[str] = "rename a joint"  # of two parameters with the same name

    def __init__(self, context: NodeContext) -> None:
        self._parameters, self._simulation = context.parameters, context.simulation
        self._elements: dict[str, E] = {}  # by parameter
        self._next: dict[str, E] = {}
        self._added: dict[str, Any] = {}  # values of the parameters that the next model adds
        self._specs: list[ParameterSpec] = []  # of these

    def _find(
        self, found: Iterable[tuple[ParameterSpec, E]], *, strict: bool = True
    ) -> dict[str, Any]:
        """Set the parameters of the next model; return the values of the added ones.

        Unless `strict`, an invalid value of the user is logged, and its default is used.
        """
        self._next, self._specs = {}, []
        taken = self._parameters.names - self._elements.keys()
        for spec, element in found:
            if spec.name in taken:
                raise UserInputError(f"two parameters would be named '{spec.name}'; {self.remedy}")
            taken.add(spec.name)
            self._next[spec.name] = element
            if self._elements.get(spec.name) != element:
                self._specs.append(spec)
        self._added = self._parameters.initial(self._specs, strict=strict)
        return self._added

    def finish(self) -> None:
        """Undeclare the parameters of elements that are gone; declare the added ones."""
        before, self._elements = self._elements, self._next
        self._parameters.withdraw(n for n, old in before.items() if self._next.get(n) != old)
        self._parameters.declare(self._specs, self._added)
        self.rollback()

    def rollback(self) -> None:
        """Discard the parameters of the next model."""
        self._next, self._added, self._specs = self._elements, {}, []

    def _changes(self, values: Mapping[str, Any]) -> dict[E, Any]:
        """Return the values of parameters that belong here, by element."""
        known = self._elements
        return {known[name]: value for name, value in values.items() if name in known}
