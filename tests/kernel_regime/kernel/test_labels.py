"""Labels by chunks of heads are those of the plain estimate."""

import pytest
import torch

from companion.experiments.kernel_regime import problems
from shallowformer import data
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.kernel.labels import labelled


@pytest.mark.parametrize("variant", problems.FIGURE)
def test_fast_labels_are_those_of_represented(variant):
    X = data.clipped_gaussian(40, 5, 3, problems.source(0))
    teacher = mappings.teacher(X[:4], problems.THREES)
    fast, slow = (
        estimate(X, teacher, 600, torch.Generator().manual_seed(1), law=problems.FIGURE[variant].law)
        for estimate in (labelled, transportation.represented)
    )
    assert torch.allclose(fast.mean, slow.mean, atol=1e-7)
    assert torch.allclose(fast.variance, slow.variance, rtol=1e-4)
    assert torch.allclose(fast.standard_error, slow.standard_error, rtol=1e-4)
