"""Exercises of the chapter *Decoder and attention together*."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _along(weights: Float[Tensor, " n"], Z: Float[Tensor, "n d"], s: float) -> Float[Tensor, " d"]:
    direction = weights @ Z
    return s * direction / direction.norm()


def _decoder_half(Z: Float[Tensor, "n d"], margins: Float[Tensor, " n"], s: float) -> Float[Tensor, " d"]:
    return _along(torch.softmax(-margins, 0), Z, s)


def _unshifted(Z: Float[Tensor, "n d"], losses: Float[Tensor, " n"], s: float) -> Float[Tensor, " d"]:
    """From losses as they are: 0/0 or ∞/∞ for large margins."""
    return _along(losses, Z, s)


#: What people answer instead, by the hint they get. Those without a shift cannot be computed at margins of 1000.
DECODER_HALF_MISTAKES = {
    "losses are exp(−m): a large margin is a small loss. A sign in the exponent.": lambda Z, m, s: _along(
        torch.softmax(m, 0), Z, s
    ),
    "the step goes against the gradient, which is −Σℓ_i z_i: u moves along the attended tokens.": lambda Z, m, s: (
        -_decoder_half(Z, m, s)
    ),
    "samples do not count alike: weight each by its loss.": lambda Z, m, s: _along(torch.ones_like(m), Z, s),
    "the length of the step is s: divide by the norm of the gradient.": lambda Z, m, s: (
        s * torch.exp(-m) @ Z / len(m)
    ),
    "divide by the norm of Σℓ_i z_i, not by Σℓ_i.": lambda Z, m, s: s * torch.softmax(-m, 0) @ Z,
    "divide by the norm of Σℓ_i z_i once, not by its square.": lambda Z, m, s: (
        s * torch.exp(-m) @ Z / (torch.exp(-m) @ Z).square().sum()
    ),
    "divide by the norm once, not by its square; what it is the norm of may be divided by Σℓ_i first.": lambda Z, m, s: (
        s * torch.softmax(-m, 0) @ Z / (torch.softmax(-m, 0) @ Z).square().sum()
    ),
    "right for small margins. At 1000 all losses are 0 in floating point: divide them by the largest first.": lambda Z, m, s: (
        _unshifted(Z, torch.exp(-m), s)
    ),
    "losses are exp(−m): a sign in the exponent. And divide them by the largest first, or those of 1000 overflow.": lambda Z, m, s: (
        _unshifted(Z, torch.exp(m), s)
    ),
    "u moves along the attended tokens: a sign. And divide losses by the largest first, or those of 1000 are 0.": lambda Z, m, s: (
        -_unshifted(Z, torch.exp(-m), s)
    ),
}


def check_decoder_half(
    decoder_half: Callable[[Float[Tensor, "n d"], Float[Tensor, " n"], float], Float[Tensor, " d"]],
) -> Feedback:
    """Exercise *The decoder's half*: a step of given length along −∇_u L; attended tokens, margins, length → change of u."""
    generator = torch.Generator().manual_seed(5)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    cases = [
        ("two samples, margins 0 and 1", (draw(2, 3), torch.tensor([0.0, 1.0]).double(), 0.5)),
        ("one sample", (draw(1, 4), draw(1), 2.0)),
        ("margins of 1000", (draw(4, 3), 1000 + draw(4), 0.1)),
    ]
    return judge("ex-joint-decoder", decoder_half, _decoder_half, cases, DECODER_HALF_MISTAKES)


#: What people answer instead, by the hint they get.
FIRST_MISTAKES = {
    "each of the other samples adds four inner products: both of its tokens, with a and with b": 0.4,
    "there are ten other samples: the own product of a and b cancels": 2 / 11,
    "that is what (N2) allows; the adversary of the first step alone has less power": 8 / 960,
    "the own term is the difference of the squared lengths, 8": 0.25,
    "each of the others' four inner products counts, and there are ten of them": 0.8,
    "the own product of a and b cancels, and each other sample adds four products, not two": 8 / 22,
    "the own product of a and b comes twice, with opposite signs: it cancels": 8 / 42,
    "the own term is the difference of the squared lengths, not their sum": 0.3,
}


def check_first(nu: Answer) -> Feedback:
    """Exercise *Lost at the first step*: the largest ν with G ≥ 4(n − 1)ν."""
    return judge_number(
        "ex-joint-first",
        nu,
        0.2,
        FIRST_MISTAKES,
        "write out ⟨Σ(a_k + b_k), a_i − b_i⟩, and let every sign of the other samples be the worst",
        "the own term is 8, each of the ten others takes 4ν",
    )


#: What people answer instead, by the hint they get.
POWER_MISTAKES = {
    "33 is enough up to p = 2/3: the decoder travels further relative to its step for larger p": 33.0,
    "1/(1 − p) takes the place of 3, and not of 1": 132.0,
    "the other way: 1/(1 − p) stands in the denominator of the bound on η": 24.75,
    "1/(1 − p) is 4, and it takes the place of 3: 33 · 4/3": 4.0,
    "33 is 11 times 3: the 3 becomes 1/(1 − p), it does not go": 11.0,
    "1/(1 − p) takes the place of 3; p itself does not enter": 22.0,
    "the factor 4/3 enters once: only ‖u_{t+1}‖ s_t^W changes": 176 / 3,
}


def check_power(number: Answer) -> Feedback:
    """Exercise *Another power*: what takes the place of 33 in (E) for p = 3/4."""
    return judge_number(
        "ex-joint-power",
        number,
        43.94,
        POWER_MISTAKES,
        "bound ‖u_{t+1}‖ s_t^W by a multiple of η s_t^u, and follow that multiple to the last line",
        "‖u_{t+1}‖ s_t^W is at most 4η s_t^u instead of 3η s_t^u",
        tolerance=0.07,  # 43.88 if nothing is rounded on the way, 44 if 33 is taken
    )
