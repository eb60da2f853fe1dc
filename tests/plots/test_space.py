"""Figures of motions in space show what the motion says."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import carom
from carom import plots
from tests.plots.drawings import box_motion


def lines(ax, label):
    return [each for each in ax.lines if each.get_label() == label]


def test_gaps_are_those_of_the_system():
    motion = box_motion()
    name = "floor (+--)"
    ax = plots.plot_gaps(motion, Figure().subplots(), contacts=[name])
    (line,) = lines(ax, "“floor (+--)”")
    i = motion.contacts.index(name)
    times, gaps = line.get_data()
    for k in (0, len(times) // 2, -1):
        near = motion.at(t=[times[k]]).q[0]
        assert abs(gaps[k] - motion.system.gap(near)[i]) <= 1e-9


def test_forces_carry_the_weight_in_the_end():
    motion = box_motion()
    forces = plots.plot_forces(motion, Figure().subplots())
    last = sum(
        line.get_ydata()[-1]
        for line in forces.lines
        if line.get_linestyle() == "-"
        and len(line.get_xdata())
        and abs(line.get_xdata()[-1] - motion.end_time) < 1e-9
    )
    rate = motion.at(t=[motion.end_time]).rate[0, :, 0].sum()
    assert abs(last - rate) <= 1e-6 * rate


def test_contacts_that_never_act_are_left_out():
    ax = plots.plot_gaps(box_motion(), Figure().subplots())
    words = {each.get_label() for each in ax.lines}
    assert not any("+)" in word for word in words)
    assert len(words) == int((box_motion().impulse[-1, :, 0] > 0.0).sum())


def test_unknown_contacts_are_refused():
    with pytest.raises(carom.InvalidOption, match="there is no 'roof'"):
        plots.plot_forces(box_motion(), Figure().subplots(), contacts=["roof"])


def test_impulses_in_space_have_two_tangents():
    ax = plots.plot_impulses(box_motion(), Figure().subplots())
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[-2:] == ["along tangent 1", "along tangent 2"]
    drawn = np.array([line.get_ydata()[-1] for line in ax.lines if len(line.get_ydata())])
    np.testing.assert_allclose(drawn, box_motion().impulse[-1].ravel())
