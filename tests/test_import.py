"""`import carom` is quick because it loads nothing but itself."""

import subprocess
import sys

import pytest

import carom


def test_import_loads_no_heavy_module():
    script = (
        "import sys, carom\n"
        "print(sorted({'numpy', 'numba', 'scipy', 'matplotlib', 'rich', 'ppl'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", carom.__all__)
def test_every_public_name_is_there(name):
    assert getattr(carom, name) is not None
    assert name in dir(carom)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Ruth'"):
        carom.Ruth  # noqa: B018
