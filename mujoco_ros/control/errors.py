"""Reasons for which a command is rejected."""


class CommandError(ValueError):
    """An invalid command, none of which was applied; the message names the joint or the point."""


class JointError(CommandError):
    """The command names joints that do not exist or that lack the command interface."""


class LateError(CommandError):
    """The trajectory ends before its execution can start."""


class QueueFullError(RuntimeError):
    """The physics thread does not keep up with its commands, or has ended."""
