"""Transportation mappings of teachers."""

import pytest
import torch

from checks import unchecked
from companion.experiments.kernel_regime import problems
from shallowformer import data
from shallowformer.kernel_regime.kernel import mappings
from shallowformer.kernel_regime.model import parameters


def test_weights_of_anchors_must_not_exceed_one():
    X = data.clipped_gaussian(3, 4, 2, problems.source(0))
    equal = mappings.teacher(X, problems.THREES)
    same = mappings.teacher(X, problems.THREES, weights=torch.full((3,), 1 / 3, dtype=X.dtype))
    phi = parameters.random(5, 2, problems.source(1))
    for a, b in zip(equal(phi).blocks, same(phi).blocks, strict=True):
        assert torch.allclose(a, b, atol=1e-15)
    with pytest.raises(ValueError, match="sum to at most 1"):
        mappings.teacher(X, problems.THREES, weights=torch.ones(3, dtype=X.dtype))
    with pytest.raises(ValueError, match="weights"), unchecked():
        mappings.teacher(X, problems.THREES, weights=torch.zeros(2, dtype=X.dtype))
