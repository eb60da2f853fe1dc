"""Exact sets and signals: PPL is loaded in any thread, and a program keeps its own handlers."""

import signal
import subprocess
import sys

import pytest

IN_A_THREAD = """
import threading, carom
found = []
def work():
    found.append(carom.post_impact_set(carom.scenes.load("rocking-block").problem))
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(found[0].is_complete, len(found[0].polytopes))
"""

HANDLERS = """
import os, signal, threading, carom
names = {names!r}
called = []
for name in names:
    signal.signal(getattr(signal, name), lambda number, frame: called.append(number))
def work():
    carom.RouthExact().resolve(carom.scenes.load("rocking-block").problem)
if {in_thread}:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    work()
for name in names:
    os.kill(os.getpid(), getattr(signal, name))
print(sorted(called) == sorted(getattr(signal, name) for name in names))
"""

# The list of this impact of the series with three contacts does not empty: see test_closing.py.
INTERRUPT = """
import signal, threading, time, carom
from tests.reference.impact_problems import numbered_triple
problem = numbered_triple(363)
carom.RouthExact().resolve(carom.scenes.load("box-wall").problem)
begin = time.monotonic()
threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    carom.RouthExact(max_seconds=600, max_polyhedra=10**9).resolve(problem)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 60)
"""


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_first_exact_set_may_come_from_any_thread():
    assert run(IN_A_THREAD) == ["True", "3"]


@pytest.mark.parametrize("in_thread", [False, True])
def test_handlers_of_a_program_are_called_after_an_exact_set(in_thread):
    wanted = ("SIGINT", "SIGHUP", "SIGALRM", "SIGQUIT", "SIGPROF", "SIGUSR1")
    names = [name for name in wanted if hasattr(signal, name)]
    assert run(HANDLERS.format(names=names, in_thread=in_thread)) == ["True"]


def test_a_search_without_end_is_interrupted():
    assert run(INTERRUPT) == ["interrupted", "True"]
