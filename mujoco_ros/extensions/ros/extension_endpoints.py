"""Topics and services of one extension, over all models."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.panel_server import PanelGroup, PanelServer
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool, TopicPublisher
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.extensions.endpoints import ExtensionEndpoint, endpoints_of
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.runner import ExtensionRunner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import RELIABLE

_PLOT_PERIOD_S = 0.01
"""Least time between two messages of a plot: each costs a call in the physics thread [s]."""


class ExtensionEndpoints:
    """Opens what the methods of an extension declare; they are called in the physics thread."""

    def __init__(
        self,
        context: NodeContext,
        runner: ExtensionRunner,
        cls: type[Extension],
        settings: Mapping[str, ParameterSpec],
    ) -> None:
        """Open the topics and services, in the executor's thread."""
        self._context, self._runner = context, runner
        self._pool = PublisherPool(context.endpoints)
        self._publishers: list[tuple[ExtensionEndpoint, TopicPublisher]] = []
        self._subscriptions: list[Any] = []
        self._services: list[Service] = []
        self._panel = self._open_panel(cls, settings)
        try:
            self._open(cls)
        except BaseException:
            self.close()
            raise

    def _open(self, cls: type) -> None:
        context, runner = self._context, self._runner
        for endpoint in endpoints_of(cls):
            label = "" if endpoint.of_robot else runner.config.label
            name = in_namespace(runner.namespace, label, endpoint.name)
            if endpoint.role == "publisher":
                self._publishers.append((endpoint, self._pool.open(endpoint.kind, name, RELIABLE)))
            elif endpoint.role == "subscription":
                receive = partial(self._receive, endpoint.method, name)
                self._subscriptions.append(
                    context.endpoints.subscription(endpoint.kind, name, receive, RELIABLE)
                )
            else:
                serve = partial(self._serve, endpoint.method)
                self._services.append(Service(context.node, endpoint.kind, name, serve))

    def publish(self) -> None:
        """Publish what is due after a step; in the physics thread."""
        simulation = self._context.simulation
        self._panel.publish(simulation.time)
        for endpoint, publisher in self._publishers:
            if not publisher.subscriptions:
                continue
            every = max(1, round(1.0 / (endpoint.rate_hz * simulation.model.opt.timestep)))
            if simulation.step_number % every:
                continue
            message = self._call(endpoint.method, passes=None)
            if isinstance(message, endpoint.kind):
                publisher.send(message)
            elif message is not None:
                kind = endpoint.kind.__name__
                self._runner.fail(endpoint.method, f"returned {type(message).__name__}, not {kind}")

    def close(self) -> None:
        """Close all topics and services."""
        self._panel.close()
        self._pool.close_others(())
        for subscription in self._subscriptions:
            self._context.endpoints.close(subscription)
        for service in self._services:
            service.destroy()

    def _open_panel(
        self, cls: type[Extension], settings: Mapping[str, ParameterSpec]
    ) -> PanelServer:
        runner, items = self._runner, cls.panel
        commands = self._context.simulation.commands
        group = PanelGroup(
            name="",
            items=items,
            owner=cls,  # before a change of the model there is no instance
            path=(),
            settings=settings,
            press=lambda method: commands.submit(partial(self._call_enabled, method)),
            evaluate=lambda method: self._call(method, passes=BaseException),
            is_active=lambda: runner.is_enabled,
            plot_period_s=_PLOT_PERIOD_S,
        )
        base = in_namespace(runner.namespace, runner.config.label)
        return PanelServer(self._context.endpoints, base, runner.key, [group] if items else [])

    def _call_enabled(self, method: str, *args: Any) -> None:
        """Call a method; RequestRejectedError if the extension is disabled, also by the call."""
        runner = self._runner
        if runner.is_enabled:
            self._call(method, *args)
        if not runner.is_enabled:
            reason = runner.failure or "its parameter 'enabled' is false"
            raise RequestRejectedError(f"extension '{runner.key}' is disabled: {reason}")

    def _call(
        self, method: str, *args: Any, passes: type[BaseException] | None = UserInputError
    ) -> Any:
        function = getattr(self._runner.extension, method)
        return self._runner.call(method, function, *args, passes=passes)

    def _receive(self, method: str, topic: str, message: Any) -> None:

        def handle() -> None:
            try:
                self._call(method, message)
            except UserInputError as error:
                self._context.rejections.report(topic, "messages rejected", str(error))

        try:
            self._context.simulation.commands.submit(handle)
        except QueueFullError as error:
            self._context.rejections.report(topic, "messages lost", str(error))

    def _serve(self, method: str, request: Any, responder: Responder) -> None:
        call = partial(self._call_enabled, method, request, responder.response)
        responder.run(self._context.simulation.commands, call, lambda _: responder())
