"""A real browser and a real server, as a user has them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

CHROMIUM = os.environ.get("CHROMIUM") or next(
    (x for x in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if x), None
)
MISSING = "no Chromium: apt-get install chromium, or name one by the variable CHROMIUM"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 240.0
"""Time until an answer must be there, which the first time compiles kernels [s]."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`carom explore` in a process of its own."""

    def __init__(self, *words, port=0, token=None):
        command = [sys.executable, "-m", "carom", "explore", *words, "--no-open"]
        environment = dict(os.environ)
        if token is not None:
            environment["CAROM_EXPLORE_TOKEN"] = token
        self.process = subprocess.Popen(
            [*command, "--port", str(port)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            # A background job of a shell ignores Ctrl-C, and passes that on.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.address = self.process.stdout.readline().strip()

    def end(self, how="terminate"):
        getattr(self.process, how)()
        self.process.wait(30)
        self.process.stdout.close()


def until(page, condition, seconds=PATIENCE):
    """Wait until an expression holds; the page's policy forbids Playwright's own way to wait."""
    end = time.monotonic() + seconds
    while not (found := page.evaluate(condition)):
        assert time.monotonic() < end, f"never true: {condition}"
        time.sleep(0.02)
    return found


def settled(page):
    """Wait until the exact set of what is on the screen is shown; return all data."""
    until(page, "!!window.carom && carom.waiting() === 0 && !!carom.data().exact")
    return data(page)


def data(page):
    return page.evaluate("carom.data()")


def children(pid):
    """Return the process and all that it started, by their numbers."""
    found = [pid]
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += children(int(each.parent.name))
    return found
