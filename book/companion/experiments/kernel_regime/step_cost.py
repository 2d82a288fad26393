"""What a step of gradient descent costs against the length of sequences: time, and memory."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent.network import Units

LENGTHS = tuple(2**k for k in range(11))


@dataclass(frozen=True)
class Config:
    """What is timed."""

    T: int  # length of sequences
    n: int = 100  # samples
    m: int = 64  # width
    d: int = 8  # dimension of tokens
    repeats: int = 25  # evaluations of which the fastest counts
    dtype: str = "float32"  # "float32" or "float64"


def plan(scale: str) -> list[Config]:
    """The configurations of a scale, short sequences first."""
    if scale == "smoke":
        return [Config(T, n=10, m=8, repeats=1) for T in (1, 8)]
    return [Config(T) for T in LENGTHS if scale == "paper" or T <= 128]


def seconds(step: Callable[[], object], repeats: int) -> float:
    """Processor time, of all threads together, of the fastest of several evaluations, after one that is not counted."""
    taken = []
    for _ in range(repeats + 1):
        begun = time.process_time()
        step()
        taken.append(time.process_time() - begun)
    return min(taken[1:])


def plain(X: Float[Tensor, "n T d"], phi: Parameters) -> None:
    """Loss and gradient by autograd, labels 0."""
    learning = phi.map(lambda block: block.detach().clone().requires_grad_())
    transformer.f(X, learning).square().mean().backward()


def kept_by_autograd(
    X: Float[Tensor, "n T d"],
    phi: Parameters | Units,
    f: Callable[..., Float[Tensor, " n"]] = transformer.f,
) -> int:
    """Bytes that a plain forward pass of f, (X, φ) → outputs, keeps for the backward pass: of different storages, each counted once."""
    storages: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        learning = phi.map(lambda block: block.detach().clone().requires_grad_())
        # Held until all is counted: an address is used again only once it is free.
        output = f(X, learning).square().mean()
    del output
    return sum(storages.values())


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row. Returns: ``step_seconds`` by Lemma 1, ``autograd_seconds``, ``autograd_bytes``, and ``data_bytes`` of the inputs."""
    source = torch.Generator().manual_seed(0)
    dtype = getattr(torch, config.dtype)
    X = data.clipped_gaussian(config.n, config.T, config.d, source).to(dtype).to(device)
    phi = parameters.symmetric(config.m, config.d, source).map(lambda block: block.to(dtype).to(device))
    loss, students = Loss(X, X.new_zeros(config.n)), Students.of(phi)
    return {
        "step_seconds": seconds(lambda: loss.losses_and_gradient(students), config.repeats),
        "autograd_seconds": seconds(lambda: plain(X, phi), config.repeats),
        "autograd_bytes": kept_by_autograd(X, phi),
        "data_bytes": X.numel() * X.element_size(),
    }


EXPERIMENT = Experiment(
    name="step_cost",
    title="Time and memory of a step against the length of sequences",
    plan=plan,
    compute=compute,
    tolerance={"step_seconds": float("inf"), "autograd_seconds": float("inf"), "autograd_bytes": 0.2},
)
