"""Files keep every bit, appear whole or not at all, and are refused in one sentence if damaged."""

import json
import os
import pickle
import stat
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carom
from carom import ImpactProblem, InvalidFile, InvalidOption
from carom.io import write_atomically

ENDINGS = [".json", ".npz"]


def make_problem(seed=0, num_contacts=2, num_tangents=1, **fields):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    return ImpactProblem(
        **{
            "M": root @ root.T + np.eye(4),
            "J_n": rng.normal(size=(num_contacts, 4)),
            "J_t": rng.normal(size=(num_contacts, num_tangents, 4)),
            "mu": rng.uniform(0.0, 2.0, num_contacts),
            "v_pre": rng.normal(size=4),
            **fields,
        }
    )


def plain_fields(**changes):
    fields = {
        "M": [[2.0, 0.0], [0.0, 2.0]],
        "J_n": [[0.0, 1.0]],
        "J_t": [[1.0, 0.0]],
        "mu": 0.5,
        "v_pre": [0.1, -1.0],
    }
    return {key: value for key, value in (fields | changes).items() if value is not None}


def write(path, fields):
    if path.suffix == ".json":
        path.write_text(json.dumps(fields))
    else:
        np.savez(path, **fields)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@given(
    seed=st.integers(0, 2**32 - 1),
    num_tangents=st.sampled_from([1, 2]),
    num_directions=st.integers(3, 12),
    contacts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
        min_size=1,
        max_size=4,
        unique=True,
    ),
)
def test_what_is_saved_is_loaded_to_the_last_bit(
    ending, seed, num_tangents, num_directions, contacts, tmp_path_factory
):
    path = tmp_path_factory.mktemp("problem") / f"own{ending}"
    problem = make_problem(
        seed, len(contacts), num_tangents, contacts=contacts, num_directions=num_directions
    )
    problem.save(path)
    assert carom.load(path) == problem
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
class TestLoad:
    def test_names_and_directions_are_optional(self, ending, tmp_path):
        problem = carom.load(write(tmp_path / f"own{ending}", plain_fields()))
        assert problem.contacts == ("A",)
        assert problem.num_directions == 8
        np.testing.assert_array_equal(problem.J_t, [[[1.0, 0.0]]])

    def test_takes_text_as_path_and_capitals_as_ending(self, ending, tmp_path):
        path = write(tmp_path / f"own{ending}", plain_fields())
        capital = path.rename(tmp_path / f"own{ending.upper()}")
        assert carom.load(str(capital)).num_contacts == 1

    def test_missing_file(self, ending, tmp_path):
        with pytest.raises(FileNotFoundError):
            carom.load(tmp_path / f"own{ending}")

    def test_missing_and_unknown_fields_are_named_together(self, ending, tmp_path):
        fields = plain_fields(J_n=None, mu=None, Jn=[[0.0, 1.0]])
        with pytest.raises(
            InvalidFile, match="misses J_n, mu and has the unknown field 'Jn'"
        ) as caught:
            carom.load(write(tmp_path / f"own{ending}", fields))
        assert "num_directions" in str(caught.value)

    def test_wrong_field_is_named_with_the_file(self, ending, tmp_path):
        path = write(tmp_path / f"own{ending}", plain_fields(mu=-1.0))
        with pytest.raises(InvalidFile, match=rf"own\{ending}: mu: expected"):
            carom.load(path)

    @pytest.mark.parametrize(
        "changes", [{"num_directions": [8, 8]}, {"num_directions": "x"}, {"contacts": 5}]
    )
    def test_field_of_a_wrong_type(self, ending, changes, tmp_path):
        path = write(tmp_path / f"own{ending}", plain_fields(**changes))
        with pytest.raises(InvalidFile, match=f"own\\{ending}"):
            carom.load(path)

    @given(content=st.binary(max_size=200))
    def test_any_other_content_is_unreadable(self, ending, content, tmp_path_factory):
        path = tmp_path_factory.mktemp("junk") / f"own{ending}"
        path.write_bytes(content)
        with pytest.raises(InvalidFile, match="own"):
            carom.load(path)

    @given(cut=st.integers(1, 1000))
    def test_truncated_file_is_unreadable(self, ending, cut, tmp_path_factory):
        path = tmp_path_factory.mktemp("cut") / f"own{ending}"
        make_problem().save(path)
        content = path.read_bytes()
        # The last byte of JSON is a line break, which nobody misses.
        path.write_bytes(content[: -1 - cut % (len(content) - 1)])
        with pytest.raises(InvalidFile, match="expected a file that carom saved"):
            carom.load(path)

    def test_folder_is_unreadable(self, ending, tmp_path):
        (tmp_path / f"own{ending}").mkdir()
        with pytest.raises(IsADirectoryError):
            carom.load(tmp_path / f"own{ending}")


def test_json_that_is_no_object(tmp_path):
    path = tmp_path / "own.json"
    path.write_text("[1, 2]")
    with pytest.raises(InvalidFile, match="got a list"):
        carom.load(path)


def test_json_number_too_large_for_a_float(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps(plain_fields(mu=10**400)))
    with pytest.raises(InvalidFile, match=r"own\.json: "):
        carom.load(path)


def test_npz_that_is_one_array(tmp_path):
    path = tmp_path / "own.npz"
    with path.open("wb") as file:
        np.save(file, np.eye(2))
    with pytest.raises(InvalidFile, match="one array"):
        carom.load(path)


class _Trap:
    def __reduce__(self):
        return (os.mkdir, ("sprung",))


def test_pickles_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("own.npz", **plain_fields(contacts=np.array([_Trap()], dtype=object)))
    Path("raw.npz").write_bytes(pickle.dumps(_Trap()))
    for name in ("own.npz", "raw.npz"):
        with pytest.raises(InvalidFile, match="expected a file that carom saved"):
            carom.load(name)
    assert not Path("sprung").exists()


@pytest.mark.parametrize("name", ["own.csv", "own", "own.json.gz"])
def test_unknown_ending(name, tmp_path):
    (tmp_path / name).write_text("{}")
    for call in (carom.load, lambda path: make_problem().save(path)):
        with pytest.raises(InvalidOption, match=r"ends in \.json or \.npz"):
            call(tmp_path / name)


def sets():
    """Return one set of every kind."""
    block = carom.scenes.load("rocking-block").problem
    laws = (carom.Routh(num_samples=20), carom.Sequential(), carom.RouthExact())
    return {type(made).__name__: made for made in (law.resolve(block) for law in laws)}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["SampledSet", "FiniteSet", "PolyhedralSet"])
def test_a_flipped_byte_is_refused_or_changes_nothing_but_a_number(kind, ending, tmp_path):
    path = tmp_path / f"set{ending}"
    sets()[kind].save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(len(content), size=300):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(damaged))
        try:
            again = carom.load(path)
        except InvalidFile:
            refused += 1
            continue
        assert type(again).__name__ == kind
        assert np.isfinite(again.v_post).all()
    assert refused > 30


def test_rationals_are_exact_and_readable(tmp_path):
    outcomes = sets()["PolyhedralSet"]
    outcomes.save(tmp_path / "set.json")
    content = json.loads((tmp_path / "set.json").read_text())
    assert (content["carom"], content["version"]) == ("PolyhedralSet", 1)
    corner = content["polytopes"][-1]["corners"][0]
    exact = [Fraction(*(int(x, 16) for x in number["is"].split("/"))) for number in corner]
    assert tuple(exact) == outcomes.polytopes[-1].corners[0]
    corner[0]["is"] = "1/0"
    (tmp_path / "set.json").write_text(json.dumps(content))
    with pytest.raises(InvalidFile, match="ZeroDivisionError"):
        carom.load(tmp_path / "set.json")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"carom": "Popen", "args": "ls"}', "expected one of Bundle, Extreme, "),
        ('{"carom": "Polytope"}', "expected one of Bundle, Extreme, "),
        ('{"carom": "SampledSet", "version": 99}', "newer than this carom"),
        ('{"carom": "SampledSet", "version": 1}', "misses problem, law, v_post"),
        ('{"carom": {"a": 1}}', "expected a file"),
        ("[" * 100_000, "RecursionError"),
    ],
)
def test_files_of_others_are_refused(content, why, tmp_path):
    path = tmp_path / "set.json"
    path.write_text(content)
    with pytest.raises(InvalidFile, match=why):
        carom.load(path)


def test_what_files_cannot_hold_is_named(tmp_path):
    class Mine:
        def replay(self, problem): ...

    samples = replace(sets()["SampledSet"], origin=Mine())
    with pytest.raises(InvalidOption, match="Mine: files hold only"):
        samples.save(tmp_path / "set.npz")
    assert not list(tmp_path.iterdir())


class TestWriteAtomically:
    def test_replaces_a_file(self, tmp_path):
        (tmp_path / "a").write_bytes(b"old")
        write_atomically(tmp_path / "a", b"new")
        assert (tmp_path / "a").read_bytes() == b"new"

    def test_interrupted_it_leaves_the_old_file_and_nothing_else(self, tmp_path, monkeypatch):
        (tmp_path / "a").write_bytes(b"old")

        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(tmp_path / "a", b"new")
        assert (tmp_path / "a").read_bytes() == b"old"
        assert len(list(tmp_path.iterdir())) == 1

    def test_others_may_read_it_as_any_new_file(self, tmp_path):
        (tmp_path / "plain").write_bytes(b"")
        write_atomically(tmp_path / "a", b"")
        modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "a")]
        assert modes[0] == modes[1]

    def test_missing_folder_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError) as caught:
            write_atomically(tmp_path / "no" / "a", b"")
        assert caught.value.filename == str(tmp_path / "no")
