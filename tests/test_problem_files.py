import json
import os
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom import ImpactProblem, InvalidProblem
from carom.io import write_atomically
from carom.laws.files import load_problem, save_problem

ENDINGS = [".json", ".npz"]
FIELDS = ("M", "J_n", "J_t", "mu", "v_pre")


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


def assert_same(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.contacts == other.contacts
    assert one.num_directions == other.num_directions


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
    save_problem(problem, path)
    assert_same(load_problem(path), problem)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
class TestLoad:
    def test_names_and_directions_are_optional(self, ending, tmp_path):
        problem = load_problem(write(tmp_path / f"own{ending}", plain_fields()))
        assert problem.contacts == ("A",)
        assert problem.num_directions == 8
        np.testing.assert_array_equal(problem.J_t, [[[1.0, 0.0]]])

    def test_takes_text_as_path_and_capitals_as_ending(self, ending, tmp_path):
        path = write(tmp_path / f"own{ending}", plain_fields())
        capital = path.rename(tmp_path / f"own{ending.upper()}")
        assert load_problem(str(capital)).num_contacts == 1

    def test_missing_file(self, ending, tmp_path):
        with pytest.raises(InvalidProblem, match=rf"own\{ending}: there is no such file"):
            load_problem(tmp_path / f"own{ending}")

    def test_missing_and_unknown_fields_are_named_together(self, ending, tmp_path):
        fields = plain_fields(J_n=None, mu=None, Jn=[[0.0, 1.0]])
        with pytest.raises(
            InvalidProblem, match="misses J_n, mu and has the unknown field 'Jn'"
        ) as caught:
            load_problem(write(tmp_path / f"own{ending}", fields))
        assert "num_directions" in str(caught.value)

    def test_wrong_field_is_named_with_the_file(self, ending, tmp_path):
        path = write(tmp_path / f"own{ending}", plain_fields(mu=-1.0))
        with pytest.raises(InvalidProblem, match=rf"own\{ending}: mu: expected"):
            load_problem(path)

    @pytest.mark.parametrize(
        "changes", [{"num_directions": [8, 8]}, {"num_directions": "x"}, {"contacts": 5}]
    )
    def test_field_of_a_wrong_type(self, ending, changes, tmp_path):
        path = write(tmp_path / f"own{ending}", plain_fields(**changes))
        with pytest.raises(InvalidProblem, match=f"own\\{ending}"):
            load_problem(path)

    @given(content=st.binary(max_size=200))
    def test_any_other_content_is_unreadable(self, ending, content, tmp_path_factory):
        path = tmp_path_factory.mktemp("junk") / f"own{ending}"
        path.write_bytes(content)
        with pytest.raises(InvalidProblem, match="own"):
            load_problem(path)

    @given(cut=st.integers(1, 1000))
    def test_truncated_file_is_unreadable(self, ending, cut, tmp_path_factory):
        path = tmp_path_factory.mktemp("cut") / f"own{ending}"
        save_problem(make_problem(), path)
        content = path.read_bytes()
        # The last byte of JSON is a line break, which nobody misses.
        path.write_bytes(content[: -1 - cut % (len(content) - 1)])
        with pytest.raises(InvalidProblem, match="expected a readable"):
            load_problem(path)

    def test_folder_is_unreadable(self, ending, tmp_path):
        (tmp_path / f"own{ending}").mkdir()
        with pytest.raises(InvalidProblem, match="expected a readable"):
            load_problem(tmp_path / f"own{ending}")


def test_json_that_is_no_object(tmp_path):
    path = tmp_path / "own.json"
    path.write_text("[1, 2]")
    with pytest.raises(InvalidProblem, match="not a list"):
        load_problem(path)


def test_json_number_too_large_for_a_float(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps(plain_fields(mu=10**400)))
    with pytest.raises(InvalidProblem, match=r"own\.json: "):
        load_problem(path)


def test_npz_that_is_one_array(tmp_path):
    path = tmp_path / "own.npz"
    with path.open("wb") as file:
        np.save(file, np.eye(2))
    with pytest.raises(InvalidProblem, match="one array"):
        load_problem(path)


class _Trap:
    def __reduce__(self):
        return (os.mkdir, ("sprung",))


def test_pickles_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("own.npz", **plain_fields(contacts=np.array([_Trap()], dtype=object)))
    Path("raw.npz").write_bytes(pickle.dumps(_Trap()))
    for name in ("own.npz", "raw.npz"):
        with pytest.raises(InvalidProblem, match="expected a readable"):
            load_problem(name)
    assert not Path("sprung").exists()


@pytest.mark.parametrize("name", ["own.csv", "own", "own.json.gz"])
def test_unknown_ending(name, tmp_path):
    (tmp_path / name).write_text("{}")
    for call in (load_problem, lambda path: save_problem(make_problem(), path)):
        with pytest.raises(InvalidProblem, match=r"ends in \.json or \.npz"):
            call(tmp_path / name)


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
