"""Settings of the whole test suite.

- HYPOTHESIS_PROFILE=explore looks for new counterexamples; the default tries the same ones always.
- Tests that need a physics engine run with `--engines`, and only those do then.
- Tests that need a browser are in tests/browser and run with `--browser`.
- An optional package that is missing fails a test, or skips it with `--skip-missing-extras`.
"""

import doctest
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

import carom

ROOT = Path(__file__).parent
OPTIONAL = {
    "PIL",
    "distributed",
    "gmpy2",
    "matplotlib",
    "pandas",
    "ppl",
    "websockets",
    "xarray",
    "zarr",
}
# Rooms of which every file needs an optional package, in src as in tests.
ROOMS = {
    "exhibits": "matplotlib",
    "explorer": "websockets",
    "plots": "matplotlib",
    "reach": "ppl",
}

# Examples in docstrings whose answer, but no error, depends on an optional package.
EXAMPLES = {
    "carom.extremes.extreme.Extreme": "ppl",
    "carom.extremes.extreme.Extremes": "ppl",
    "carom.extremes.worst_case.worst_case": "ppl",
    "carom.guarantees.impulse.WorstImpulse": "ppl",
    "carom.guarantees.report.Guarantees": "ppl",
    "carom.laws.post_impact.post_impact_set": "ppl",
    "carom.outcomes.outcome_set.OutcomeSet": "ppl",
}

# Where the explorer shows things in space.
IN_SPACE = (("explorer", "robot.py"), ("explorer", "space.py"))

# Helpers of tests, imported by them.
collect_ignore = ["tests/reference"]

# Figures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# No deadline: the first example of a test may compile kernels.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    group = parser.getgroup("carom")
    group.addoption(
        "--engines", action="store_true", help="run the tests that need a physics engine, only"
    )
    group.addoption(
        "--browser", action="store_true", help="collect the tests that need a browser, too"
    )
    group.addoption(
        "--skip-missing-extras",
        action="store_true",
        help="skip what needs an optional package that is not installed",
    )


def rooms(path):
    """Return the folders of the project that a file is in."""
    return path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else path.parts


def needs_engine(path):
    """Return whether all in a file needs an engine; single tests have the marker `engines`."""
    own = rooms(path)
    return "adapters" in own or path.name == "test_robots.py" or own[-2:] in IN_SPACE


def is_missing(path):
    """Return whether a file is in a room whose optional package is not installed."""
    return any(find_spec(ROOMS[room]) is None for room in ROOMS.keys() & set(rooms(path)))


def pytest_report_header(config):
    missing = sorted(room for room, package in ROOMS.items() if find_spec(package) is None)
    if missing and config.getoption("skip_missing_extras"):
        return f"not collected, for want of an extra: {', '.join(missing)}"
    return None


def pytest_ignore_collect(collection_path, config):
    """Leave out what could not even be imported, where that was asked for."""
    if needs_engine(collection_path):
        return None if config.getoption("engines") else True
    if "browser" in rooms(collection_path) and not config.getoption("browser"):
        return True
    if config.getoption("skip_missing_extras") and is_missing(collection_path):
        return True
    return None


def pytest_collection_modifyitems(config, items):
    """Run the tests of engines or all others, and skip what says that it needs a package."""
    chosen = config.getoption("engines")
    kept, left_out = [], []
    for item in items:
        is_engine = needs_engine(item.path) or item.get_closest_marker("engines") is not None
        (kept if is_engine == chosen else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
    if config.getoption("skip_missing_extras"):
        for item in items:
            needs = [marker.args[0] for marker in item.iter_markers("needs")]
            needs += [EXAMPLES[item.name]] if item.name in EXAMPLES else []
            for package in needs:
                if find_spec(package) is None:
                    item.add_marker(pytest.mark.skip(reason=f"needs {package}"))


def missing_package(error):
    """Return what says that an optional package is missing, if an error is about that."""
    while error is not None:
        if isinstance(error, doctest.UnexpectedException):
            error = error.exc_info[1]
        package = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, carom.MissingExtra) or (
            isinstance(error, ModuleNotFoundError) and package in OPTIONAL
        ):
            return str(error)
        error = error.__cause__ or error.__context__
    return None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if report.failed and collector.config.getoption("skip_missing_extras"):
        _skip(report, report.call.excinfo, collector.path)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and item.config.getoption("skip_missing_extras"):
        _skip(report, call.excinfo, item.path)
    return report


def _skip(report, excinfo, path):
    reason = missing_package(excinfo.value)
    if reason is not None:
        report.outcome = "skipped"
        report.longrepr = (str(path), 0, f"Skipped: {reason}")
