"""What exhibits say: their own claims, judged by closed forms and by numbers of the paper."""

import math

import numpy as np
import pytest

from carom.paper.exhibit import Effort
from carom.paper.exhibits import EXHIBITS, ball, tables, unit, zeno
from carom.paper.exhibits.collision import collide
from carom.paper.exhibits.impacts import STACK_MASS
from carom.paper.run import reproduce
from carom.paper.store import read_table

QUICK = (
    "rocking-block-outcomes",
    "set-valued-direction",
    "routh-path",
    "compass-gait-outcomes",
    "box-wall-outcomes",
    "ball-phase",
    "zeno-cycle",
    "zeno-trajectory",
    "stiffness-sweep",
    "angle-sweep",
    "ramone-outcomes",
    "disk-stack-outcomes",
    "parameters",
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    found = reproduce(tmp_path_factory.mktemp("paper"), QUICK, quick=True)
    return {one.folder.name: one for one in found}


@pytest.mark.parametrize("name", QUICK)
def test_all_sentences_agree(kept, name):
    findings = kept[name].findings
    assert findings
    assert [finding.sentence for finding in findings if not finding.agrees] == []


@pytest.mark.parametrize("name", QUICK)
def test_there_are_data_and_a_figure_or_a_table(kept, name):
    one = kept[name]
    assert one.figures or one.shown
    assert one.tables
    for table in one.tables:
        assert read_table(one.folder / table).rows


def test_direction_solutions_go_straight_to_zero():
    s = np.linspace(0.0, 3.0, 301)
    start = np.array([0.6, -0.8])
    v = unit.follow(start, s)
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), np.maximum(1.0 - s, 0.0), atol=1e-15)
    np.testing.assert_allclose(v[s < 0.99] @ [0.8, 0.6], 0.0, atol=1e-15)


def test_sliding_stops_when_friction_has_used_up_the_speed():
    stop, error = unit.sliding_stop(0.7)
    assert error < 1e-9
    assert stop == pytest.approx(0.7 / 9.81, abs=1e-9)


def test_ball_hits_the_ground_with_the_speed_of_its_fall():
    for speed, motion in zip(ball.SPEEDS, ball.motions(), strict=True):
        (impact,) = motion.impacts
        assert impact.v[0, 0] == pytest.approx(-math.sqrt(speed**2 + 2 * 9.81), abs=1e-9)


def test_apex_of_the_wobble_is_where_the_energy_is_used_up():
    """m g (R sin(alpha + angle) - R sin alpha) = I rate^2 / 2 about the corner."""
    motion = zeno.wobble()
    t = np.linspace(0.0, motion.impacts[0].t, 20001)[:-1]
    apex = motion.at(t=t).q[:, 2].max()
    radius, alpha = math.hypot(0.5, 1.0), math.atan2(1.0, 0.5)
    inertia = 5.0 / 12.0 + radius**2
    gained = 9.81 * radius * (math.sin(alpha + apex) - math.sin(alpha))
    assert gained == pytest.approx(inertia / 2, abs=1e-8)


class TestPerformance:
    """LCPs a sample with the paper's draws, of which there are fewer than in the paper."""

    def steps(self, name, selection, mass=None):
        return tables.measure(
            collide(name, mass), Effort(quick=True), draw="uniform", selection=selection
        ).steps

    @pytest.mark.parametrize("name", list(tables.PUBLISHED))
    def test_exact_pivoting_needs_fewer(self, name):
        mass = STACK_MASS if name == "disk-stack" else None
        published = tables.PUBLISHED[name].steps
        assert 0.6 * published < self.steps(name, "lemke", mass) < published

    def test_compass_is_as_published_if_any_solution_is_taken(self):
        assert self.steps("compass-gait", "random") == pytest.approx(2.27, abs=0.06)

    def test_discs_of_one_kilogram_are_not_what_was_published(self):
        assert self.steps("disk-stack", "lemke") < 0.3 * tables.PUBLISHED["disk-stack"].steps

    def test_published_times_belong_together(self):
        """The paper's columns are products of each other, to its two digits."""
        for row in tables.PUBLISHED.values():
            assert row.steps * row.lcp == pytest.approx(row.sample, rel=0.07)


def test_each_collision_is_posed_and_resolved_once():
    """Exhibits of one scene share its problem and the sets that no effort changes."""
    one = collide("rocking-block")
    assert collide("rocking-block") is one
    assert one.problem is one.problem
    assert one.exact is one.exact
    assert one.simultaneous.problem is one.sequential.problem is one.problem
    assert collide("disk-stack", STACK_MASS) is not collide("disk-stack")
    assert collide("disk-stack").exact_if_few is None


def test_names_are_unique_and_say_what_they_are():
    assert len({exhibit.title for exhibit in EXHIBITS.values()}) == len(EXHIBITS)
    assert all(name == exhibit.name for name, exhibit in EXHIBITS.items())
