"""The controllers hosted in one simulation, and which of them are active."""

from collections.abc import Callable, Mapping, Sequence

from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError, unknown


class ControllerSet:
    """Controllers by name, for the physics thread; no two active ones command the same joint."""

    def __init__(self) -> None:
        self._hosts: dict[str, ControllerHost] = {}

    @property
    def hosts(self) -> Mapping[str, ControllerHost]:
        """The hosts of the controllers by name."""
        return self._hosts

    def add(self, name: str, host: ControllerHost, *, is_active: bool = True) -> None:
        """Add a controller before the simulation runs; UserInputError if joints are taken."""
        if is_active:
            _check_claims(name, host, self._active())
        else:
            host.deactivate()
        self._hosts[name] = host

    def switch(
        self, activate: Sequence[str], deactivate: Sequence[str], *, strict: bool
    ) -> tuple[str, ...]:
        """Deactivate and activate controllers between two steps; return why parts were left out.

        The joints of a deactivated controller hold their references. A controller in both lists
        starts again, and so does an active one that was stopped by an error. With `strict`, nothing
        changes unless everything does. Otherwise impossible parts are left out, unless all of a
        list are, and a controller may be as requested already.
        """
        problems: list[str] = []
        active = self._active()

        def leaves(name: str) -> bool:
            is_active = self._find(name).is_active
            if strict and not is_active:
                raise UserInputError(f"controller '{name}' is not active")
            active.pop(name, None)
            return is_active

        def enters(name: str) -> bool:
            host = self._find(name)
            is_running = name in active and not host.supervised.error
            if strict and is_running:
                raise UserInputError(f"controller '{name}' is active already")
            if not is_running:
                _check_claims(name, host, active)
                host.prepare_activation()
                active[name] = host
            return not is_running

        def chosen(names: Sequence[str], is_chosen: Callable[[str], bool]) -> list[str]:
            found, failed = [], []
            for name in dict.fromkeys(names):
                try:
                    if is_chosen(name):
                        found.append(name)
                except UserInputError as error:
                    if strict:
                        raise
                    failed.append(str(error))
            if failed and len(failed) == len(set(names)):
                raise UserInputError("; ".join(failed))
            problems.extend(failed)
            return found

        leaving = chosen(deactivate, leaves)
        entering = chosen(activate, enters)
        for name in leaving:
            self._hosts[name].deactivate()
        for name in entering:
            self._hosts[name].activate()
        return tuple(problems)

    def _find(self, name: str) -> ControllerHost:
        if name not in self._hosts:
            raise unknown("controller", name, self._hosts)
        return self._hosts[name]

    def _active(self) -> dict[str, ControllerHost]:
        return {name: host for name, host in self._hosts.items() if host.is_active}


def _check_claims(name: str, host: ControllerHost, others: Mapping[str, ControllerHost]) -> None:
    """Raise UserInputError if another controller commands a joint that `host` commands."""
    for other, claiming in others.items():
        if other == name:
            continue
        for robot, joints in host.claims.items():
            claimed = claiming.claims.get(robot, ())
            common = [joint for joint in joints if joint in claimed]
            if common:
                stopped = " (stopped by an error)" if claiming.supervised.error else ""
                raise UserInputError(
                    f"controllers '{other}'{stopped} and '{name}' both command joints of robot "
                    f"'{robot}': {', '.join(common)}; deactivate one, or give each its own joints"
                )
