"""Margins of steepest descents, Adam and Muon: a row is what its parts say, and what is stored is whole."""

import numpy as np
import pytest
import torch

from companion.experiments.token_selection import margins
from companion.theory.token_selection import best_margins, optimisers
from shallowformer.experiments.experiment import stored

CPU = torch.device("cpu")


@pytest.mark.parametrize("optimiser", ["ngd", "muon_ns", "adam_epsilon"])
def test_no_share_is_above_1_and_its_gap_is_that_of_the_data(optimiser):
    row = margins.compute(margins.Config("gaussian", optimiser, 0, 40), CPU)
    shares = np.array(row["share"])
    assert (shares <= 1 + 1e-8).all()
    data = margins.problem("gaussian", 0)
    found = {name: best_margins.best(data, name) for name in margins.NORMS}
    assert row["margins"] == [found[name].margin for name in margins.NORMS]
    for name, best in found.items():
        now = margins.shares(best.W, optimisers.Problem(data).slope(best.W), found)
        assert now["share"][list(found).index(name)] == pytest.approx(1)
        assert now["cosine"][list(found).index(name)] == pytest.approx(1)


def test_what_is_stored_is_whole_and_enclosed():
    rows = stored(margins.EXPERIMENT)
    assert len(rows) == len(margins.SETTINGS) * len(margins.OPTIMISERS) * len(margins.SEEDS)
    for row in rows:
        assert max(row["gaps"]) < 1e-8
        assert np.array(row["share"]).max() <= 1 + 1e-8
        assert row["region"] > 0
