"""The exceptions of tf2_py."""


class TransformException(Exception):  # noqa: N818 (the genuine name)
    """A transform is not known."""


class ConnectivityException(TransformException):
    """No chain of transforms connects two frames."""


class LookupException(TransformException):
    """A frame does not exist."""


class ExtrapolationException(TransformException):
    """A time is outside of the known transforms."""


class InvalidArgumentException(TransformException):
    """A frame or a transform is invalid."""


class TimeoutException(TransformException):
    """A transform was not known in time."""
