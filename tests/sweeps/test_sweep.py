"""What a sweep returns: the same numbers as one impact after another, with names."""

import json
from functools import partial

import numpy as np
import pytest
from scipy.stats import qmc

import carom
from carom.sweeps import ExactOrSampled, WorstCase, design, status
from tests.sweeps.helpers import FEW, GRID, fails_at_a_half, largest_lift, problem_of

pytestmark = pytest.mark.needs("ppl")

ALL = ["contact_bounds", "worst_case", "kinds", "energy_kept", "complete", "spread", "ambiguity"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep") / "out"
    return carom.sweep(problem_of, GRID, ALL, out=out, workers=1).load()


def test_public_call(tmp_path):
    """The dimensions of the measure that most people want."""
    over = {"mu": [0.2, 0.5]}
    found = carom.sweep("rocking-block", over, ["contact_bounds"], out=tmp_path / "a", workers=1)
    bounds = found["contact_bounds"]
    assert type(bounds).__name__ == "DataArray"
    assert bounds.dims == ("mu", "contact", "component", "side")
    assert bounds.attrs["units"] == "m/s"
    assert bounds.mu.values.tolist() == [0.2, 0.5]


def test_values_are_those_of_single_impacts(data):
    for mu in GRID["mu"]:
        for speed in GRID["speed"]:
            point = data.sel(mu=mu, speed=speed)
            outcomes = carom.RouthExact().resolve(problem_of(mu, speed))
            np.testing.assert_array_equal(point.contact_bounds, outcomes.contact_bounds())
            possible = point.kind.values[point.kinds.values]
            assert set(possible) == set(outcomes.kinds)
            assert bool(point.complete)


def test_physics_of_all_points(data):
    """Nothing approaches afterwards, energy is lost, bounds hold, and the block has two sides."""
    bounds, kept = data.contact_bounds, data.energy_kept
    assert float(bounds.sel(component="normal").min()) >= -1e-9
    assert float(kept.min()) >= 0.0
    assert float(kept.max()) <= 1.0
    assert bool((kept.sel(side="least") <= kept.sel(side="largest")).all())
    worst = data.worst_case
    assert bool((worst.sel(bound="reached") <= worst.sel(bound="proved") + 1e-9).all())
    lifts = bounds.sel(component="normal", side="largest")
    np.testing.assert_allclose(lifts.sel(contact="A"), lifts.sel(contact="B"), rtol=1e-9)
    # Impacts are homogeneous: twice the speed, twice the spread, the same ambiguity.
    np.testing.assert_allclose(
        data.spread.sel(speed=2.0), 2 * data.spread.sel(speed=1.0), rtol=1e-9
    )
    np.testing.assert_allclose(data.ambiguity.sel(speed=2.0), data.ambiguity.sel(speed=1.0))


def test_recipe_is_in_the_attributes(data):
    recipe = json.loads(data.attrs["recipe"])
    assert recipe["parameters"] == GRID
    assert recipe["law"]["name"] == "ExactOrSampled"
    assert recipe["carom"] == carom.__version__
    assert data.attrs["reproducible"] == 1


def test_restitution_of_a_scene_is_swept_over(tmp_path):
    """Points whose contacts bounce are sampled; elastic ones without friction keep all energy."""
    over = {"restitution": [0.5, 1.0]}
    out = tmp_path / "cradle"
    data = carom.sweep("newtons-cradle", over, ["energy_kept", "complete"], out=out, workers=1)
    assert not data.complete.values.any()
    kept = data.energy_kept
    np.testing.assert_allclose(kept.sel(restitution=1.0), 1.0, atol=1e-10)
    assert 0.0 < float(kept.sel(restitution=0.5, side="largest")) < 1.0


def test_sampled_points_have_bounds_that_hold(tmp_path):
    """Samples reach less than the exact set, and a proof bounds it."""
    over, law = {"mu": [0.3, 1.0], "speed": 1.0}, ExactOrSampled(max_polyhedra=0, num_samples=64)
    measures = {"worst_case": WorstCase({"lift": "A normal", "turn": [0.0, 0.0, 1.0]})}
    found = carom.sweep(problem_of, over, measures, out=tmp_path / "a", law=law, workers=1)
    for mu in over["mu"]:
        exact = carom.RouthExact().resolve(problem_of(mu, 1.0))
        worst = found.worst_case.sel(mu=mu)
        for name, direction in (("lift", exact.problem.J_n[0]), ("turn", [0.0, 0.0, 1.0])):
            reached, proved = worst.sel(quantity=name).values
            assert reached <= exact.support(direction) + 1e-9
            assert exact.support(direction) <= proved + 1e-9
    assert float(found.speed) == 1.0
    assert found.worst_case.dims == ("mu", "quantity", "bound")


def test_list_of_points_and_design(tmp_path):
    points = design(qmc.Halton(2, scramble=False), {"mu": (0.2, 1.0), "speed": (0.5, 2.0)}, 5)
    found = carom.sweep(problem_of, points, [largest_lift], out=tmp_path / "a", law=FEW, workers=1)
    assert found.largest_lift.dims == ("point",)
    assert found.mu.values.tolist() == [point["mu"] for point in points]
    assert (found.largest_lift.values >= 0.0).all()
    assert found.status.values.tolist() == [1] * 5


def test_system_with_states(tmp_path):
    """A block that touches with one corner has no velocity of the other."""
    scene = carom.scenes.load("rocking-block")
    angle = 0.1
    # The left corner touches, half a metre beside the centre and one below it.
    q = [scene.q, [0.0, 0.5 * np.sin(angle) + np.cos(angle), angle]]
    states = {"q": q, "v": [scene.v, 2 * scene.v]}
    found = carom.sweep(scene.system, states, ["contact_bounds"], out=tmp_path / "a", workers=1)
    assert found.contact_bounds.dims == ("q", "v", "contact", "component", "side")
    np.testing.assert_array_equal(found.v_values, [scene.v, 2 * scene.v])
    flat, on_edge = (found.contact_bounds.isel(q=k, v=0) for k in (0, 1))
    assert np.isfinite(flat).all()
    assert np.isnan(on_edge.sel(contact="B")).all()
    assert np.isfinite(on_edge.sel(contact="A")).all()


def test_own_measures(tmp_path):
    def parts(outcomes):
        return {"lift": 1.0, "slip": float(len(outcomes.kinds))}

    measures = {"lift": largest_lift, "parts": parts, "v_mean": lambda o: o.v_post.mean(axis=0)}
    over = {"mu": [0.5], "speed": [1.0, 2.0]}
    found = carom.sweep(
        problem_of, over, measures, out=tmp_path / "a", workers=1, units={"lift": "m/s"}
    )
    assert found.lift.attrs["units"] == "m/s"
    assert found.parts.sel(parts_part="lift").values.tolist() == [[1.0, 1.0]]
    assert found.v_mean.shape == (1, 2, 3)


def test_failing_points_are_recorded_and_the_others_go_on(tmp_path):
    found = carom.sweep(fails_at_a_half, GRID, ["spread"], out=tmp_path / "a", workers=1)
    assert found.status.sel(mu=0.5).values.tolist() == [2, 2, 2]
    assert found.status.sel(mu=0.3).values.tolist() == [1, 1, 1]
    assert np.isnan(found.spread.sel(mu=0.5)).all()
    assert np.isfinite(found.spread.sel(mu=0.7)).all()
    failures = carom.sweep.failed(tmp_path / "a")
    assert [(each.index, each.point) for each in failures] == [
        (k, {"mu": 0.5, "speed": speed}) for k, speed in zip((6, 7, 8), GRID["speed"], strict=True)
    ]
    assert failures[0].error == "ValueError: no friction of a half"
    assert str(status(tmp_path / "a")) == "12 of 12 points done, 3 failed"


def test_clocks_are_told(tmp_path):
    law = carom.RouthExact(max_seconds=5.0)
    found = carom.sweep(
        "rocking-block", {"mu": [1.0]}, ["complete"], out=tmp_path / "a", workers=1, law=law
    )
    assert found.attrs["reproducible"] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": {"mu": [0.5]}}, "parameters: problem_of takes others"),
        ({"parameters": {"mu": [0.5, 0.5], "speed": 1.0}}, "mu has the same value twice"),
        ({"parameters": {"mu": 0.5, "speed": 1.0}}, "expected at least one with a list"),
        ({"parameters": [{"mu": 0.5, "speed": 1.0}, {"mu": 0.5}]}, "mu, speed at point 1, got mu"),
        ({"measures": ["contact_bound"]}, "measures: expected one of contact_bounds"),
        ({"measures": []}, "measures: expected one or more"),
        ({"law": "routh"}, "law: expected an ImpactLaw, got a str"),
        ({"problem_of": "rocking-blok"}, "did you mean 'rocking-block'"),
        ({"problem_of": 3}, "problem_of: expected a function"),
        ({"shard": (3, 2)}, "shard: expected an integer from 1 to 2, got 3"),
        ({"workers": 0}, "workers: expected an integer >= 1"),
        ({"workers": 1, "dask": "tcp://x"}, "workers and dask: expected one of them"),
        ({"executor": 3, "workers": None}, "executor: expected a concurrent.futures.Executor"),
    ],
)
def test_bad_arguments(given, message, tmp_path):
    call = {
        "problem_of": problem_of,
        "parameters": GRID,
        "measures": ["complete"],
        "workers": 1,
    } | given
    with pytest.raises(carom.CaromError, match=message):
        carom.sweep(**call, out=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_partial_function_is_part_of_the_recipe(tmp_path):
    call = {"parameters": {"mu": [0.5]}, "measures": ["complete"], "workers": 1}
    carom.sweep(partial(problem_of, speed=1.0), **call, out=tmp_path / "a")
    with pytest.raises(carom.InvalidOption, match="problem_of is"):
        carom.sweep(partial(problem_of, speed=2.0), **call, out=tmp_path / "a")


def sometimes_a_number(outcomes):
    bounds = outcomes.contact_bounds()
    return bounds[:, 0, 1] if outcomes.problem.mu[0] > 0.2 else float(bounds.max())


def test_measures_keep_their_dimensions(tmp_path):
    """A point whose measure has other dimensions fails, and is not left out in silence."""
    call = {"law": FEW, "workers": 1}
    with pytest.raises(carom.InvalidOption, match="sometimes_a_number: expected as many dim"):
        carom.sweep(problem_of, GRID, [sometimes_a_number], out=tmp_path / "b", unit_size=3, **call)
    mixed = carom.sweep(
        problem_of, GRID, [sometimes_a_number], out=tmp_path / "c", unit_size=12, **call
    )
    assert mixed.status.values.tolist() == [[1] * 3] + [[2] * 3] * 3
    assert "after 0" in carom.sweep.failed(tmp_path / "c")[0].error
