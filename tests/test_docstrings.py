"""Every public name is shown by an example.

The examples are run where they stand, in `src/carom`; ruff checks how docstrings are written.
"""

import doctest
import importlib
import inspect

import pytest

PUBLIC = ["carom", "carom.paper.compliant", "carom.plots", "carom.scenes", "carom.systems"]


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_example_that_runs(module):
    public = importlib.import_module(module)
    found = [getattr(public, name) for name in public.__all__]
    shown = [each for each in found if inspect.isclass(each) or inspect.isfunction(each)]
    assert shown
    for each in shown:
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(each) or "")
        assert examples, f"{each.__name__} has no example"
        assert not any(doctest.SKIP in example.options for example in examples), each.__name__
