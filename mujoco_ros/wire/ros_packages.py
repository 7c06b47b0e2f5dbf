"""Which ROS packages are installed."""

from collections.abc import Iterable

from ament_index_python.packages import PackageNotFoundError, get_package_prefix


def is_installed(package: str) -> bool:
    """Return whether a ROS package is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def require_packages(packages: Iterable[str], user: str) -> None:
    """Check that packages are installed.

    Raises:
        ValueError: Some are not; the text begins with the `user`, which needs them.
    """
    if missing := [f"'{package}'" for package in packages if not is_installed(package)]:
        what, be = ("package", "is") if len(missing) == 1 else ("packages", "are")
        raise ValueError(
            f"{user} needs the ROS {what} {', '.join(missing)}, which {be} not installed"
        )
