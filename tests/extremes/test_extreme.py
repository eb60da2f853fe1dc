"""Extremes explain themselves, and files keep them to the last bit, certificates included."""

import copy
import json
import math
import pickle
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

import carom
from carom.io import VERSION

pytestmark = pytest.mark.needs("ppl")

ENDINGS = [".json", ".npz"]
NAMES = ["-A normal", "A normal", "-B impulse", "energy kept"]


@pytest.fixture(scope="module")
def gait():
    return carom.scenes.load("compass-gait").problem


@pytest.fixture(scope="module")
def extremes(gait):
    """Return extremes with certificates of both kinds, and one without."""
    found = carom.worst_case(gait, NAMES, max_seconds=1.0)
    kinds = [type(each.certificate).__name__ for each in found]
    assert kinds == ["CoverCertificate", "CoverCertificate", "Certificate", "NoneType"]
    return found


def assert_same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.problem == b.problem
        for field in (each.name for each in fields(a) if each.name not in ("problem", "path")):
            np.testing.assert_equal(getattr(b, field), getattr(a, field), field)
        for field in (each.name for each in fields(a.path)):
            np.testing.assert_equal(getattr(b.path, field), getattr(a.path, field), field)


class TestSequence:
    def test_by_place_name_and_slice(self, extremes):
        assert extremes[1] is extremes["A normal"]
        assert isinstance(extremes[1:3], carom.Extremes)
        assert [each.name for each in extremes[::-1]] == NAMES[::-1]
        assert len(extremes) == len([*extremes]) == 4
        np.testing.assert_array_equal(extremes.reached, [each.reached for each in extremes])
        np.testing.assert_array_equal(extremes.proved, [each.proved for each in extremes])

    def test_unknown_name_and_place(self, extremes):
        with pytest.raises(KeyError, match="C normal"):
            extremes["C normal"]
        with pytest.raises(IndexError):
            extremes[4]

    def test_none_or_of_several_impacts_is_refused(self, extremes):
        with pytest.raises(carom.InvalidOption, match="one or more"):
            carom.Extremes(())
        other = carom.worst_case(carom.scenes.load("rocking-block").problem, "A normal")
        with pytest.raises(carom.InvalidOption, match="one impact"):
            carom.Extremes((extremes[0], other))


class TestText:
    def test_rows_hold_both_sides(self, extremes):
        least, largest, push, kept = extremes
        expected = [
            ("A normal", "m/s", -least.proved, -least.reached, largest.reached, largest.proved),
            ("B impulse", "N s", -push.proved, -push.reached, math.nan, math.nan),
            ("energy kept", "J", math.nan, math.nan, kept.reached, kept.proved),
        ]
        for row, own in zip(extremes.rows(), expected, strict=True):
            assert row[:2] == own[:2]
            np.testing.assert_equal(row[2:], own[2:])

    def test_noise_is_zero_and_no_bound_is_none(self, extremes):
        noisy = replace(extremes[0], reached=-1e-17, proved=1e-18)
        endless = replace(extremes[1], proved=math.inf, certificate=None)
        found = carom.Extremes((noisy, endless))
        assert abs(extremes[0].proved) < 1e-9
        (cells,) = found.cells()
        value = f"{endless.reached:.5g}"
        assert cells == ["A normal [m/s]", "0", "0", value, "none", "open"]
        for text in (str(found), found._repr_html_()):
            assert "none" in text
            assert "e-1" not in text
            assert "inf" not in text
            assert "nan" not in text
        # What is small beside the impact is noise; what is small in numbers is not.
        small = replace(noisy, reached=-1e-17, scale=1e-12)
        assert carom.Extremes((small,)).cells()[0][2] == "1e-17"

    def test_summary_is_a_table_with_notes(self, extremes):
        title, head, *rows, note = extremes.summary().splitlines()
        exact = sum(each.is_exact for each in extremes)
        assert title == f"extremes of 2 contacts: {exact} of 4 exact"
        assert len({len(line) for line in [head, *rows]}) == 1
        assert [row.split()[0] for row in rows] == ["A", "B", "energy"]
        assert note.startswith("  note: the energy")
        assert str(extremes) == extremes.summary()
        assert repr(extremes) == f"Extremes(4 quantities, {exact} exact)"

    def test_gap_is_told_where_there_is_one(self, extremes):
        loose = replace(extremes[1], proved=extremes[1].reached + 0.125)
        assert loose.gap == pytest.approx(0.125)
        assert not loose.is_exact
        assert carom.Extremes((extremes[0], loose)).cells()[0][-1] == "0.125"
        assert carom.Extremes((extremes[0], extremes[1])).cells()[0][-1] == "exact"

    def test_one_extreme_in_a_sentence(self, extremes):
        exact = extremes["A normal"]
        value = f"{exact.reached:.6g}"
        assert str(exact) == f"A normal: {value} m/s at most, exactly"
        loose = replace(exact, proved=0.5)
        assert str(loose) == f"A normal: {value} m/s is reached, and no outcome exceeds 0.5 m/s"
        endless = replace(exact, proved=math.inf, certificate=None)
        assert str(endless) == f"A normal: {value} m/s is reached; no bound is proved"
        own = replace(exact, name="direction", unit="", reached=-1e-15, proved=1e-16)
        assert str(own) == "direction: 0 at most, exactly"
        assert repr(own) == f"Extreme({own})"

    def test_names_are_escaped_in_a_notebook(self, gait):
        contacts = ("<b>", "B")
        named = replace(gait, contacts=contacts)
        assert "<b> normal" not in carom.worst_case(named, "<b> normal")._repr_html_()


class TestFiles:
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_what_is_saved_is_loaded_to_the_last_bit(self, extremes, ending, tmp_path):
        extremes.save(tmp_path / f"all{ending}")
        again = carom.load(tmp_path / f"all{ending}")
        assert_same(extremes, again)
        again.verify()
        extremes[2].save(tmp_path / f"one{ending}")
        one = carom.load(tmp_path / f"one{ending}")
        assert isinstance(one, carom.Extreme)
        assert_same([extremes[2]], [one])

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_no_bound_is_saved_too(self, extremes, ending, tmp_path):
        endless = replace(extremes[1], proved=math.inf, certificate=None)
        endless.save(tmp_path / f"one{ending}")
        assert carom.load(tmp_path / f"one{ending}").proved == math.inf

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_integers_of_thousands_of_digits(self, extremes, ending, tmp_path):
        """JSON of Python neither writes nor reads them in decimal."""
        huge = 3**20_000
        (cell, rows), *more = extremes[0].certificate.cover
        is_equation, numbers = rows[0]
        changed = ((cell, ((is_equation, (-huge, *numbers[1:])), *rows[1:])), *more)
        cover = replace(extremes[0].certificate, cover=changed)
        momentum = replace(extremes[2].certificate, bound=Fraction(huge, 2**40_000))
        both = [replace(extremes[0], certificate=cover), replace(extremes[2], certificate=momentum)]
        carom.Extremes(tuple(both)).save(tmp_path / f"all{ending}")
        assert_same(both, carom.load(tmp_path / f"all{ending}"))

    def test_pickles_and_copies(self, extremes):
        for again in (pickle.loads(pickle.dumps(extremes)), copy.deepcopy(extremes)):
            assert_same(extremes, again)
            again.verify()
        assert copy.copy(extremes).extremes is extremes.extremes

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_a_flipped_byte_is_refused_or_proves_nothing_else(self, extremes, ending, tmp_path):
        path = tmp_path / f"all{ending}"
        extremes[1:3].save(path)
        content = path.read_bytes()
        rng = np.random.default_rng(0)
        refused = 0
        for place in rng.integers(len(content), size=150):
            damaged = bytearray(content)
            damaged[place] ^= 1 << rng.integers(8)
            path.write_bytes(bytes(damaged))
            try:
                again = carom.load(path)
            except carom.InvalidFile:
                refused += 1
                continue
            assert isinstance(again, carom.Extremes)
            str(again)
            for each, own in zip(again, extremes[1:3], strict=True):
                try:
                    each.verify(5.0)
                except carom.InvalidCertificate:
                    continue
                # What is still proved is true of the quantity and the impact in the file.
                if each.problem == own.problem and np.array_equal(each.direction, own.direction):
                    assert each.proved >= own.reached - 1e-9
        assert refused > 20

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"carom": "Certificate"}, "expected one of Bundle, Extreme, Extremes, FiniteSet"),
            ({"version": VERSION + 1}, "newer than this carom"),
            ({"reached": None}, "reached: expected a finite number, got None"),
            ({"proved": "x"}, "proved: expected a number"),
            ({"proved": math.nan}, "proved: expected a number"),
            ({"scale": -1.0}, "scale: expected a number >= 0"),
            ({"name": 3}, "name, unit, notes: expected text"),
            ({"notes": 3}, "expected a file that carom saved"),
            ({"path": None}, "path: expected a path of the impact"),
            ({"problem": 3}, "problem: expected one, got a int"),
            ({"direction": [1.0]}, r"direction: expected shape \(4,\)"),
            ({"impulse_weights": [1.0]}, r"impulse_weights: expected shape \(2,\)"),
            ({"certificate": "trust me"}, "certificate: expected one or None, got a str"),
            ({"more": 1}, "has the unknown field 'more'"),
        ],
    )
    def test_wrong_fields_are_named(self, extremes, changes, words, tmp_path):
        extremes[1].save(tmp_path / "one.json")
        content = json.loads((tmp_path / "one.json").read_text())
        (tmp_path / "one.json").write_text(json.dumps(content | changes))
        with pytest.raises(carom.InvalidFile, match=words) as caught:
            carom.load(tmp_path / "one.json")
        assert str(caught.value).startswith(str(tmp_path / "one.json"))

    @pytest.mark.parametrize("number", ["0x", "1.5", "0x1/0x2", 7, None])
    def test_damaged_integers_are_refused(self, extremes, number, tmp_path):
        extremes[1].save(tmp_path / "one.json")
        content = json.loads((tmp_path / "one.json").read_text())
        content["certificate"]["cover"][0][1][0][1][0] = {"carom": "integer", "is": number}
        (tmp_path / "one.json").write_text(json.dumps(content))
        with pytest.raises(carom.InvalidFile, match="expected a file that carom saved"):
            carom.load(tmp_path / "one.json")


class TestVerify:
    def test_a_bound_that_is_too_small_is_refused(self, extremes):
        for k in (1, 2):
            small = replace(extremes[k], proved=extremes[k].proved - 1e-3)
            with pytest.raises(carom.InvalidCertificate, match="smaller than the bound"):
                small.verify()

    def test_certificates_of_others_are_refused(self, extremes):
        least, largest, push, _ = extremes
        for each, certificate in ((largest, least.certificate), (push, largest.certificate)):
            with pytest.raises(carom.InvalidCertificate):
                replace(each, certificate=certificate).verify()

    def test_certificates_of_another_impact_are_refused(self, extremes):
        faster = replace(extremes.problem, v_pre=2.0 * extremes.problem.v_pre)
        for k in (1, 2):
            with pytest.raises(carom.InvalidCertificate, match="another impact"):
                replace(extremes[k], problem=faster).verify()

    @pytest.mark.parametrize("changes", [{"direction": None}, {"bound": "x"}, {"cover": 5}])
    def test_damaged_certificates_are_refused(self, extremes, changes):
        certificate = replace(extremes[1].certificate, **changes)
        with pytest.raises(carom.InvalidCertificate):
            replace(extremes[1], certificate=certificate).verify()
