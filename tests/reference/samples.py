"""Run one sample of a set again, by its number: several samples may end in the same velocity."""


def path_of(outcomes, i):
    """Return the path of sample i of a set."""
    replay = outcomes.origin.replay(outcomes.problem)
    return replay.path(int(outcomes.numbers[i]), int(outcomes.num_steps[i]))
