"""Executables: the command lines of the package."""

import signal
import sys
from pathlib import Path

# Ctrl-C ends a program of this folder at once while it imports its modules, which takes seconds: a
# KeyboardInterrupt is a traceback there, or an import drops it. Another program that imports from
# here keeps its handler.
_is_module = f"-m {__name__}." in " ".join(sys.orig_argv)
_is_script = Path(__file__).with_name(f"{Path(sys.argv[0]).name}.py").is_file()
if (_is_module or _is_script) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
