"""Why a command is refused."""


class CommandError(ValueError):
    """A command is wrong; nothing of it was applied. The message names the culprit."""


class JointError(CommandError):
    """A command names joints that are not there, or asks of one what it cannot take."""


class LateError(CommandError):
    """A trajectory ends before it could begin."""
