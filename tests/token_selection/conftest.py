"""What tests of this room share: a random instance."""

import pytest
import torch

from shallowformer.token_selection.instances import Instance


def random_instance(n=3, T=4, d=5, seed=0, **more):
    """Gaussian tokens, decoder and labels: no assumption of the paper holds but Definition 1."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    y = torch.where(draw(n) > 0, 1.0, -1.0).to(torch.float64)
    return Instance(draw(n, T, d), y, draw(d), **more)


@pytest.fixture
def case():
    return random_instance
