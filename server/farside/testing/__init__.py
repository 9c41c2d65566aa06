"""The testing kit: what farside's own tests are made of, for the tests of apps and of other implementations.

``FakeBrowser`` is a page in Python, ``MemoryLink`` connects it to an app without a socket (and drops, doubles or holds
frames on demand), ``serve`` runs a server, ``ServerProcess`` one that can be killed, ``Proxy`` is a bad network before
it, ``ManualClock`` moves time, ``play`` plays a transcript of protocol/vectors, and ``contracts`` holds the suites that
every store and runtime must pass.
"""

from farside.testing.browser import FakeBrowser
from farside.testing.clock import ManualClock
from farside.testing.link import Link, LinkClosed, MemoryLink, SocketLink
from farside.testing.player import play, record
from farside.testing.process import ServerProcess
from farside.testing.proxy import Faults, Proxy
from farside.testing.server import serve

__all__ = [
    "FakeBrowser",
    "Faults",
    "Link",
    "LinkClosed",
    "ManualClock",
    "MemoryLink",
    "Proxy",
    "ServerProcess",
    "SocketLink",
    "play",
    "record",
    "serve",
]
