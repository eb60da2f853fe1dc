"""Every public name says what it takes, returns and raises, and shows it by an example that runs.

The examples themselves are run by pytest where they stand, in `src/carom`.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
from functools import cache, cached_property

import pytest

import carom
from carom.errors import CaromError

# Modules, and which of their names are public: None is __all__, or all without an underscore.
PUBLIC = {
    "carom": None,
    "carom.adapters.drake": None,
    "carom.adapters.gymnasium": None,
    "carom.adapters.half_space": ("ContactPoint", "HalfSpace"),
    "carom.adapters.mujoco": None,
    "carom.adapters.pinocchio": None,
    "carom.paper.compliant": None,
    "carom.errors": None,
    "carom.io": ("load",),
    "carom.contact_space": None,
    "carom.guarantees.ambiguity": ("Ambiguity", "Kind", "ambiguity"),
    "carom.guarantees.cone": None,
    "carom.guarantees.dissipation": None,
    "carom.guarantees.impulse": None,
    "carom.guarantees.lipschitz": None,
    "carom.guarantees.report": None,
    "carom.guarantees.sentences": ("Statement",),
    "carom.guarantees.termination": None,
    "carom.guarantees.uniqueness": None,
    "carom.stepping.lcp": None,
    "carom.motion.bundle": None,
    "carom.motion.files": None,
    "carom.motion.parts": ("Impact", "Layout", "Segment", "States"),
    "carom.motion.simulation": None,
    "carom.motion.trajectory": None,
    "carom.outcomes.holdout": ("Holdout",),
    "carom.outcomes.kinds": ("ContactStates",),
    "carom.outcomes.outcome_set": ("OutcomeSet", "Projection"),
    "carom.outcomes.polytope": ("Polytope",),
    "carom.stepping.pieces": None,
    "carom.scenes": None,
    **{f"carom.scenes.{name.replace('-', '_')}": ("make",) for name in carom.scenes.names()},
    "carom.systems": None,
    "carom.systems.planar_frame": ("Frame",),
}
ARRAYS = ("ArrayLike", "BoolArray", "FloatArray", "IntArray", "ndarray")
SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Examples")


def _public():
    """Return all public functions and classes by their full names."""
    found = []
    for name, chosen in PUBLIC.items():
        module = importlib.import_module(name)
        own = [key for key, value in vars(module).items() if _home(value) == name]
        chosen = chosen or getattr(module, "__all__", own)
        found += [getattr(module, key) for key in chosen if not key.startswith("_")]
    found = {f"{_home(each)}.{each.__qualname__}": each for each in found if _home(each)}
    return dict(sorted(found.items()))


def _home(value):
    """Return the module of a function or class, and nothing for any other value."""
    is_code = inspect.isclass(value) or inspect.isfunction(value)
    return value.__module__ if is_code else None


def _members():
    """Return all public methods and properties of public classes, with their class."""
    found = {}
    for name, owner in NAMES.items():
        if inspect.isclass(owner):
            for key, value in vars(owner).items():
                function = _function(value)
                if not key.startswith("_") and function is not None:
                    found[f"{name}.{key}"] = (owner, function)
    return found


def _function(value):
    """Return the function behind a method or property, if it is one."""
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    if isinstance(value, property):
        # Enumerations have properties that are written in C.
        return value.fget if inspect.isfunction(value.fget) else None
    if isinstance(value, cached_property):
        return value.func
    return value if inspect.isfunction(value) else None


NAMES = _public()
MEMBERS = _members()


def _sections(documented):
    """Return the text of every section of a docstring by its title; the first has none."""
    parts = re.split(rf"^({'|'.join(SECTIONS)}):$", inspect.getdoc(documented) or "", flags=re.M)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def _items(text):
    """Return what a section says of each of its names."""
    found = {}
    parts = re.split(r"^    \*{0,2}(\w+(?:, \w+)*):", text, flags=re.M)
    for names, says in zip(parts[1::2], parts[2::2], strict=True):
        found |= dict.fromkeys(names.split(", "), says)
    return found


def _shown(*documented):
    """Return the code of all examples in some docstrings."""
    parser = doctest.DocTestParser()
    texts = [inspect.getdoc(each) or "" for each in documented]
    return "\n".join(part.source for text in texts for part in parser.get_examples(text))


def _parameters(documented):
    """Return what must be explained, with its annotation: arguments, and fields of data."""
    if not inspect.isclass(documented):
        taken = _arguments(documented)
    else:
        taken = dict(inspect.get_annotations(documented))
        for maker in _written(documented, "__init__"):
            taken |= _arguments(maker)
    return {name: str(kind) for name, kind in taken.items() if not name.startswith("_")}


def _arguments(function):
    taken = inspect.signature(function).parameters
    return {name: each.annotation for name, each in taken.items() if name not in ("self", "cls")}


class _Raised(ast.NodeVisitor):
    """Collect the errors of carom that a function raises, itself or by helpers that it calls.

    Helpers are functions of its module or imported by it, and its own methods. What is called
    where errors are caught is left out.
    """

    def __init__(self, function, owner):
        self.function, self.owner = function, owner
        self.scope = function.__globals__
        self.found = set()

    def visit_Try(self, node):
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_FunctionDef(self, node):
        """Pass over functions that are only defined here."""

    def visit_Raise(self, node):
        if isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            raised = self.scope.get(node.exc.func.id)
            if inspect.isclass(raised) and issubclass(raised, CaromError):
                self.found.add(raised.__name__)
            elif inspect.isfunction(raised):
                self.found.add(str(raised.__annotations__["return"]))
        self.generic_visit(node)

    def visit_Call(self, node):
        called, owner = None, None
        match node.func:
            case ast.Name(id=name):
                called = self.scope.get(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                called, owner = getattr(self.owner, name, None), self.owner
        is_helper = (_home(called) or "").startswith("carom.") and not inspect.isclass(called)
        if is_helper and called is not self.function:
            self.found |= _raised(called, owner)
        self.generic_visit(node)


@cache
def _raised(function, owner=None):
    """Return the names of the errors of carom that a function raises."""
    visitor = _Raised(function, owner)
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    for statement in definition.body:
        visitor.visit(statement)
    return frozenset(visitor.found)


def _raised_by(documented, owner):
    if not inspect.isclass(documented):
        return _raised(documented, owner)
    written = _written(documented, "__init__", "__post_init__")
    return frozenset().union(*(_raised(each, documented) for each in written))


def _written(owner, *names):
    """Return some methods of a class, but for those that Python writes itself."""
    found = [vars(owner).get(name) for name in names]
    return [each for each in found if each is not None and each.__code__.co_filename != "<string>"]


EVERYTHING = {name: (each, None) for name, each in NAMES.items()}
EVERYTHING |= {name: (each, owner) for name, (owner, each) in MEMBERS.items()}
every = pytest.mark.parametrize(
    "documented", [each for each, _ in EVERYTHING.values()], ids=EVERYTHING.keys()
)
every_with_owner = pytest.mark.parametrize(
    ("documented", "owner"), EVERYTHING.values(), ids=EVERYTHING.keys()
)


@every
def test_first_line_is_a_sentence(documented):
    first = (documented.__doc__ or "").strip().split("\n")[0]
    assert re.match(r"[A-Z].*\.$", first), f"expected a sentence, got {first!r}"


@every
def test_every_parameter_is_explained_with_its_shape(documented):
    sections = _sections(documented)
    said = _items(sections.get("Attributes", "")) | _items(sections.get("Args", ""))
    for name, kind in _parameters(documented).items():
        assert name in said, f"{name} is not explained"
        if any(array in kind for array in ARRAYS):
            assert re.search(r"\(.*?\)", said[name], re.DOTALL), f"{name}: {kind} has no shape"


@every_with_owner
def test_every_error_is_told(documented, owner):
    told = _items(_sections(documented).get("Raises", ""))
    assert _raised_by(documented, owner) <= told.keys()


@every_with_owner
def test_it_is_shown_by_an_example(documented, owner):
    """A function or class has an example of its own; a member may be shown by its class."""
    if owner is None:
        assert ">>> " in _sections(documented).get("Examples", "")
    else:
        assert re.search(rf"\b{documented.__name__}\b", _shown(documented, owner))


@every
def test_examples_stand_under_their_title(documented):
    text = inspect.getdoc(documented) or ""
    assert text.count(">>> ") == _sections(documented).get("Examples", "").count(">>> ")


def test_what_public_names_return_is_public_too():
    """A new kind of result must be documented before something public returns it."""
    words = {word for each, _ in EVERYTHING.values() for word in _result_words(each)}
    hidden = words & _classes() - {each.__name__ for each in NAMES.values()}
    # The kernels' own, which a law hands out for measurements.
    assert hidden == {"Sampler"}


def _result_words(documented):
    """Return all words in the annotations of what a function returns or a class holds."""
    kinds = {"return": ""} | inspect.get_annotations(documented)
    if not inspect.isclass(documented):
        kinds = {"return": kinds["return"]}
    return re.findall(r"\w+", " ".join(str(kind) for kind in kinds.values()))


def _classes():
    """Return the names of all classes but those of the layers that nobody calls."""
    found = set()
    for module in pkgutil.walk_packages(carom.__path__, "carom."):
        if not re.search(r"__main__|\.(cli|kernels|reach|reproduce)\b", module.name):
            values = vars(importlib.import_module(module.name)).values()
            own = [each for each in values if _home(each) == module.name]
            found |= {each.__name__ for each in own if inspect.isclass(each)}
    return {name for name in found if not name.startswith("_")}


def test_names_that_people_rely_on_are_looked_at():
    """The list is not empty by mistake, and sees through properties and class methods."""
    assert "carom.laws.routh.Routh" in NAMES
    assert "carom.motion.trajectory.Trajectory.energy" in MEMBERS
    assert "carom.systems.planar_bodies.Body.box" in MEMBERS
    assert _raised_by(carom.Sequential, None) == {"InvalidProblem"}
