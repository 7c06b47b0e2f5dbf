"""Loading a model, with all its messages."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.log_lines import one_line
from mujoco_ros.model.scene.config import XACRO_SUFFIX, SceneConfig, load_scene


def load_with_arguments(reference: str, xacro_args: Mapping[str, str]) -> SceneConfig:
    """Read a scene, and give the xacro file that it is its arguments.

    Args:
        reference: A model or scene, as for `load_scene`.
        xacro_args: Arguments of a xacro file by name.

    Raises:
        UserInputError: The scene or model does not exist or is invalid, or the reference is no
            xacro file and there are arguments.
    """
    config = load_scene(reference)
    if not xacro_args:
        return config
    if config.merged or not config.robots[0].model.endswith(XACRO_SUFFIX):
        raise UserInputError(
            f"'{reference}' is no xacro file, so it takes no arguments; a scene has 'xacro_args'"
        )
    robot = replace(config.robots[0], xacro_args=dict(xacro_args))
    return replace(config, robots=(robot,))


@contextmanager
def captured_messages(level: int = logging.INFO) -> Iterator[list[str]]:
    """Collect the messages that the package logs, each once, instead of showing them."""
    messages: list[str] = []
    logger, handler = logging.getLogger("mujoco_ros"), _Collector(messages)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__()
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        message = one_line(record.getMessage())
        if message not in self._messages:
            self._messages.append(message)
