"""`import carom` is quick because it loads nothing but itself."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import carom


def test_import_loads_no_heavy_module():
    script = (
        "import sys, carom\n"
        "print(sorted({'numpy', 'numba', 'scipy', 'matplotlib', 'rich', 'ppl'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(carom.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for line in block.body for alias in line.names}
    assert seen == set(carom.__all__)


@pytest.mark.parametrize("name", carom.__all__)
def test_every_public_name_is_there(name):
    assert getattr(carom, name) is not None
    assert name in dir(carom)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Ruth'"):
        carom.Ruth  # noqa: B018
