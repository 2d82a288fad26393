"""What tests insist on: a refusal that explains itself, and agreement up to a derived rounding error."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import jaxtyping
import pytest
import torch
from torch import Tensor


@contextmanager
def unchecked() -> Iterator[None]:
    """Signatures are not checked, as for a reader: what the function itself says of a wrong argument shows."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)


def skip_without_data(*errors: object) -> None:
    """Skip the test that runs if one of these errors is ``Source.read``'s: its data come with a package that is not installed."""
    for error in map(str, errors):
        if "is not installed; type: pip install" in error:
            pytest.skip(error)


def refused(name: str, given: str, allowed: str, call=None, /, *args, **more):
    """Expect a ValueError whose message names the argument, what was given and what is allowed.

    Of what is called inside, or, as with ``pytest.raises``, of the call that is handed over.
    """
    if call is None:
        return _refused(name, given, allowed)
    with _refused(name, given, allowed):
        call(*args, **more)


@contextmanager
def _refused(name: str, given: str, allowed: str) -> Iterator[None]:
    with pytest.raises(ValueError) as caught, unchecked():
        yield
    message = str(caught.value)
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message), (
        f"the message does not name {name}: {message}"
    )
    assert given in message, f"the message does not say what was given ({given}): {message}"
    assert allowed in message, f"the message does not say what is allowed ({allowed}): {message}"


def assert_agrees(actual: Tensor, expected: object, logit: float = 0.0, factor: float = 64.0) -> None:
    """Compare with a reference: same shape, error within factor · eps · (1 + largest logit) · max(1, |expected|).

    Sums here have at most a few dozen terms of size about 1, hence 64 machine precisions; a logit of size L carries an
    absolute rounding error of order L · eps, which its weight inherits as a relative one.
    """
    expected = torch.as_tensor(expected, dtype=torch.float64)
    assert actual.shape == expected.shape, f"shape {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    budget = factor * torch.finfo(actual.dtype).eps * (1 + logit) * max(1.0, float(expected.abs().max()))
    error = float((actual.detach().double() - expected).abs().max())
    assert error <= budget, f"error {error:.3g} above the rounding budget {budget:.3g}"


def source(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=source(seed), dtype=torch.float64)


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def random_laws(T: int, d: int, n: int = 20_000) -> tuple[Tensor, Tensor]:
    """Tokens in the unit ball, many of them long, and weights."""
    generator = source(T * d)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    X = torch.nn.functional.normalize(draw(n, T, d), dim=-1)
    X = X * torch.rand(n, T, 1, generator=generator, dtype=torch.float64) ** 0.2
    return X, torch.softmax(2 * draw(n, T), -1)
