"""A file that another program names, for a process that reads it."""

from typing import NamedTuple

from mujoco_ros.model.file_access import ClientFiles, FileAccess, client_files


class FileRequest(NamedTuple):
    """A file to read.

    Attributes:
        uri: The file.
        files: The files that may be read; None allows all.
    """

    uri: str
    files: ClientFiles | None

    @classmethod
    def of_client(cls, uri: str, access: FileAccess) -> "FileRequest":
        """Return the request for a file, if `access` allows clients to name it."""
        with access.for_client():
            return cls(uri, client_files())
