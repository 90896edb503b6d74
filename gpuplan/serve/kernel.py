"""The kernel of a session, which listens on no port: an ordinary one does, for what subprocesses print.

Any user of the machine could write to that port, and so fill the memory of the session and the log of the server.
Run as a program it is the kernel of a session that is not forked.
"""

import sys
from typing import Any

from ipykernel import kernelapp
from ipykernel.iostream import IOPubThread

# No session is debugged; 8 MB of each, and a twentieth of a second.
sys.modules["debugpy"] = None  # type: ignore[assignment]


class Unpiped(IOPubThread):
    """The thread that sends the output of a session, without the port for that of subprocesses."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "pipe": False})  # type: ignore[no-untyped-call]


def launch(**options: Any) -> None:
    """Run a kernel with options of an ordinary one, until it ends."""
    kernelapp.IOPubThread = Unpiped  # type: ignore[attr-defined]  # which it imports
    kernelapp.IPKernelApp.launch_instance(**options)


if __name__ == "__main__":
    del sys.path[0]  # the folder of the session: nothing is imported from it
    launch()
