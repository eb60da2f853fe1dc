"""Certificates: true ones are accepted, damaged ones refused, by exact arithmetic."""

import json
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from gmpy2 import mpq

import carom
from carom.errors import InvalidCertificate
from carom.proofs.certificate import digest_of
from carom.reach.certificate import (
    CoverCertificate,
    certify,
    check,
)
from carom.reach.flow import vertices
from carom.reach.search import pose
from carom.reach.waiting import Unfinished
from tests.reference.impact_problems import numbered_triple
from tests.reference.set_checks import AMPLE, changed

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")
OPTIONS = {"zero": 1e-9, "grid": 1e-14}
# Of the series with three contacts: its list does not empty.
ENDLESS = 2


@cache
def searched(name, steps):
    problem = numbered_triple(name) if isinstance(name, int) else carom.scenes.load(name).problem
    search = pose(problem, **OPTIONS)
    search.run(AMPLE, steps)
    return problem, search


@cache
def certified(name, steps=10**6, row=0):
    """Return a problem and the certificate of the largest value of one contact velocity."""
    problem, search = searched(name, steps)
    direction = search.flow.inclusion.rows[row]
    state = Unfinished.of(search)
    proof = state.bound(direction, time.monotonic() + 5.0)
    cover = {cell: [node.reached for node in nodes] for cell, nodes in search.known.items()}
    return problem, certify(problem, cover, state, [proof], **OPTIONS)[0]


def is_accepted(problem, certificate):
    try:
        check(problem, certificate, AMPLE)
    except InvalidCertificate:
        return False
    return True


def _is_in(y, rows):
    """Return whether a point fulfils constraints, exactly."""
    values = [sum(a * x for a, x in zip(row, (*y, 1), strict=True)) for _, row in rows]
    return all(
        value == 0 if is_equation else value >= 0
        for value, (is_equation, _) in zip(values, rows, strict=True)
    )


@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("name", SCENES)
def test_a_complete_search_is_certified_by_its_polyhedra(name, row):
    problem, certificate = certified(name, row=row)
    assert not certificate.waiting
    check(problem, certificate, AMPLE)
    # The bound is the exact maximum but for rounding it upwards.
    _, search = searched(name, 10**6)
    direction = search.flow.inclusion.rows[row]
    most = max(direction @ y for node in search.finals() for y in vertices(node.reached))
    assert 0 <= mpq(certificate.bound) - most <= mpq(1, 10**12)


@pytest.mark.parametrize("name", SCENES)
def test_a_lower_bound_is_refused(name):
    problem, certificate = certified(name)
    lower = mpq(certificate.bound) - mpq(1, 10**9)
    with pytest.raises(InvalidCertificate, match="exceeds the bound"):
        check(problem, replace(certificate, bound=str(lower)), AMPLE)


@pytest.mark.parametrize("name", SCENES)
def test_no_polyhedron_may_be_missing(name):
    problem, certificate = certified(name)
    for i in range(len(certificate.cover)):
        cover = (*certificate.cover[:i], *certificate.cover[i + 1 :])
        with pytest.raises(InvalidCertificate, match="may leave"):
            check(problem, replace(certificate, cover=cover), AMPLE)


@pytest.mark.parametrize("name", SCENES)
def test_tightened_constraints_are_refused(name):
    """Every constraint of every polyhedron that has more than one point is attained in it."""
    problem, certificate = certified(name)
    num_refused = num_tried = 0
    for i, (cell, rows) in enumerate(certificate.cover):
        for j, (is_equation, numbers) in enumerate(rows):
            if is_equation:
                continue
            # By a millionth of the numbers, exactly.
            finer = [10**6 * x for x in numbers]
            finer[-1] -= max(map(abs, numbers))
            changed_rows = (*rows[:j], (False, tuple(finer)), *rows[j + 1 :])
            cover = list(certificate.cover)
            cover[i] = (cell, changed_rows)
            num_tried += 1
            num_refused += not is_accepted(problem, replace(certificate, cover=tuple(cover)))
    assert num_refused == num_tried > 0


@pytest.mark.parametrize("name", SCENES)
def test_what_is_accepted_after_random_damage_is_still_true(name):
    """An integer of a constraint is changed; acceptance requires that no outcome was lost."""
    problem, certificate = certified(name)
    _, search = searched(name, 10**6)
    rng = np.random.default_rng(0)
    num_refused = 0
    for _ in range(20):
        i = int(rng.integers(len(certificate.cover)))
        cell, rows = certificate.cover[i]
        j = int(rng.integers(len(rows)))
        is_equation, numbers = rows[j]
        k = int(rng.integers(len(numbers)))
        new = list(numbers)
        new[k] += int(rng.choice([-1, 1])) * max(1, abs(new[k]) // 10)
        damaged = (cell, (*rows[:j], (is_equation, tuple(new)), *rows[j + 1 :]))
        cover = (*certificate.cover[:i], damaged, *certificate.cover[i + 1 :])
        if not is_accepted(problem, replace(certificate, cover=cover)):
            num_refused += 1
            continue
        # The damage enlarged a polyhedron, or removed nothing that motions reach.
        own = [rows for other, rows in cover if other == cell]
        reached = [y for node in search.known[cell] for y in vertices(node.reached)]
        assert all(any(_is_in(y, rows) for rows in own) for y in reached)
    assert num_refused > 0


@pytest.mark.parametrize("name", ["compass-gait", ENDLESS])
def test_what_was_not_followed_is_bounded_by_multipliers(name):
    steps = 12 if name == "compass-gait" else 150
    problem, certificate = certified(name, steps)
    assert certificate.waiting
    check(problem, certificate, AMPLE)
    lower = str(mpq(certificate.bound) * mpq(999, 1000))
    with pytest.raises(InvalidCertificate, match="exceed"):
        check(problem, replace(certificate, bound=lower), AMPLE)
    with pytest.raises(InvalidCertificate, match="may leave"):
        check(problem, replace(certificate, waiting=certificate.waiting[1:]), AMPLE)
    (s, g), *rest = certificate.multipliers
    wrong = ((("-1", *s[1:]), g), *rest)
    with pytest.raises(InvalidCertificate, match="wrong sign"):
        check(problem, replace(certificate, multipliers=wrong), AMPLE)
    turned = ((s, tuple(str(-mpq(x)) for x in g)), *rest)
    assert any(mpq(x) for x in g)
    with pytest.raises(InvalidCertificate, match="wrong sign"):
        check(problem, replace(certificate, multipliers=turned), AMPLE)


def test_bounds_of_an_unfinished_search_hold_the_exact_ones():
    problem, search = searched("compass-gait", 10**6)
    for steps in (1, 5, 12, 30):
        for row in range(4):
            _, certificate = certified("compass-gait", steps, row)
            direction = search.flow.inclusion.rows[row]
            most = max(direction @ y for node in search.finals() for y in vertices(node.reached))
            assert mpq(certificate.bound) >= most
    assert problem.num_contacts == 2


def test_a_certificate_belongs_to_one_impact():
    problem, certificate = certified("rocking-block")
    other = changed(problem, v_pre=1.01 * problem.v_pre)
    with pytest.raises(InvalidCertificate, match="another impact"):
        check(other, certificate, AMPLE)
    # Its polyhedra do not fit the other impact either.
    with pytest.raises(InvalidCertificate, match="may leave"):
        check(other, replace(certificate, problem_digest=digest_of(other)), AMPLE)


def test_no_time_is_no_proof():
    problem, certificate = certified("compass-gait")
    with pytest.raises(InvalidCertificate, match="time ended"):
        check(problem, certificate, -1.0)


def test_certificates_are_saved_as_json():
    problem, certificate = certified(ENDLESS, 150)
    again = CoverCertificate.from_dict(json.loads(json.dumps(certificate.to_dict())))
    assert again == certificate
    assert again.digest == certificate.digest
    assert replace(again, bound="1").digest != certificate.digest
    assert digest_of(problem) == certificate.problem_digest
    for data in ({}, {"cover": 3}, {**certificate.to_dict(), "cover": [[["x"], []]]}):
        with pytest.raises(InvalidCertificate):
            CoverCertificate.from_dict(data)
