"""Figures 1, 4, 6 and 7 as documented runs: any classifier on any data in a file, by SGD, SNGD, SPS or Adam.

The paper's models and data are not shipped, and nothing here is needed for anything else; the loop is tested on tiny ones.

    python -m companion.experiments.token_selection.documented mine:model train.npz test.npz --rule sngd --rate 0.1

``mine:model`` is a function of a module of yours that returns a ``torch.nn.Module``; a file holds arrays ``inputs`` (token ids, or pictures),
``labels``, and perhaps ``mask`` (1 for a token, 0 for padding).
"""

import argparse
import importlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Generator, Tensor, nn

from shallowformer.contracts import Count, Positive, contract, contracted


@dataclass(frozen=True)
class Examples:
    """Inputs of a classifier with their labels."""

    inputs: Shaped[Tensor, "n ..."]  # one a row: token ids, or pictures in [0, 1]
    labels: Int[Tensor, " n"]  # classes, from 0
    mask: Shaped[Tensor, "n ..."] | None = None  # which tokens are none but padding (0); None for all

    def __post_init__(self) -> None:
        N = len(self.inputs)
        if N == 0 or self.labels.shape != (N,) or self.labels.is_floating_point():
            raise ValueError(
                f"labels must be {N} whole numbers, one an input and at least one, got {tuple(self.labels.shape)}"
            )
        if self.mask is not None and self.mask.shape != self.inputs.shape:
            raise ValueError(
                f"mask must have the shape of inputs {tuple(self.inputs.shape)}, got {tuple(self.mask.shape)}"
            )

    def __len__(self) -> int:
        return len(self.inputs)

    def to(self, device: torch.device | str) -> "Examples":
        """The same on a device."""
        return Examples(
            self.inputs.to(device),
            self.labels.to(device),
            None if self.mask is None else self.mask.to(device),
        )

    @contract
    def batches(self, size: Count, generator: Generator | None = None) -> Iterator["Examples"]:
        """Pieces of at most ``size``, in random order if a generator is given."""
        order = (
            torch.arange(len(self)) if generator is None else torch.randperm(len(self), generator=generator)
        )
        for part in order.to(self.labels.device).split(size):
            yield Examples(
                self.inputs[part], self.labels[part], None if self.mask is None else self.mask[part]
            )


def load(path: Path | str) -> Examples:
    """Examples in an ``.npz`` file; bytes, as pictures are stored, become numbers in [0, 1]."""
    with np.load(path, allow_pickle=False) as found:
        if not {"inputs", "labels"} <= set(found):
            raise ValueError(f"path must hold arrays inputs and labels, got {sorted(found)}")
        inputs, labels = found["inputs"], torch.from_numpy(found["labels"]).long()
        mask = torch.from_numpy(found["mask"]).long() if "mask" in found else None
    if inputs.dtype == np.uint8:
        return Examples(torch.from_numpy(inputs).float() / 255, labels, mask)
    whole = np.issubdtype(inputs.dtype, np.integer)
    return Examples(
        torch.from_numpy(inputs).long() if whole else torch.from_numpy(inputs).float(), labels, mask
    )


@contracted
@dataclass(frozen=True)
class Rule:
    """A step size for a gradient of a batch."""

    #: "sgd" (η), "sngd" (η/‖g‖) or "sps" (loss over 2‖g‖²: the least loss is taken to be 0), or "adam"
    kind: str
    rate: Positive = 1.0  # η; not used by "sps"
    most: float = math.inf  # the largest multiplier; none if not given. It cuts "sngd" and "sps".

    def __post_init__(self) -> None:
        if self.kind not in ("sgd", "sngd", "sps", "adam"):
            raise ValueError(f"kind must be sgd, sngd, sps or adam, got {self.kind!r}")
        if not self.most > 0:
            raise ValueError(f"most must be above 0, got {self.most}")

    def multiplier(self, loss: float, size: float) -> float:
        """η_t from a batch's loss and its gradient's size: a step is −η_t g."""
        if self.kind == "sgd" or size == 0:
            return self.rate if size else 0.0
        return min(self.most, self.rate / size if self.kind == "sngd" else loss / (2 * size**2))


def logits(model: nn.Module, batch: Examples) -> Float[Tensor, "n classes"]:
    """What the model says of a batch; models that return an object with ``logits`` are understood.

    Args:
        model: takes inputs, and ``attention_mask`` if the data has one.
    """
    more = {} if batch.mask is None else {"attention_mask": batch.mask}
    said = model(batch.inputs, **more)
    return said if isinstance(said, Tensor) else said.logits


@torch.no_grad()
def evaluate(model: nn.Module, examples: Examples, size: int) -> tuple[float, float]:
    """Mean cross-entropy and accuracy."""
    model.eval()
    loss, right = 0.0, 0
    for batch in examples.batches(size):
        said = logits(model, batch)
        loss += float(nn.functional.cross_entropy(said, batch.labels, reduction="sum"))
        right += int((said.argmax(1) == batch.labels).sum())
    return loss / len(examples), right / len(examples)


@contract
def train(
    model: nn.Module, examples: Examples, test: Examples, rule: Rule, epochs: Count, size: int, seed: int = 0
) -> Iterator[dict]:
    """Train in place, in batches of ``size`` whose order ``seed`` draws, and look after every epoch, and once before.

    Yields:
        One row each: ``epoch``, ``train`` and ``test`` (losses), ``accuracy``, ``norm`` of all parameters.
    """
    weights = [part for part in model.parameters() if part.requires_grad]
    adam = torch.optim.Adam(weights, rule.rate) if rule.kind == "adam" else None
    generator = Generator().manual_seed(seed)
    for epoch in range(epochs + 1):
        if epoch:
            model.train()
            for batch in examples.batches(size, generator):
                loss = nn.functional.cross_entropy(logits(model, batch), batch.labels)
                model.zero_grad(set_to_none=True)
                loss.backward()
                if adam is not None:
                    adam.step()
                    continue
                moved = [(part, part.grad) for part in weights if part.grad is not None]
                norm = float(torch.stack([grad.norm() for _, grad in moved]).norm())
                multiplier = rule.multiplier(float(loss.detach()), norm)
                with torch.no_grad():
                    for part, grad in moved:
                        part.sub_(multiplier * grad)
        (train_loss, _), (test_loss, accuracy) = evaluate(model, examples, size), evaluate(model, test, size)
        length = float(torch.stack([part.detach().norm() for part in weights]).norm())
        yield {"epoch": epoch, "train": train_loss, "test": test_loss, "accuracy": accuracy, "norm": length}


def main(words: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description="Train a classifier by SGD, SNGD, SPS or Adam; one row of JSON an epoch."
    )
    parser.add_argument("model", help="module:function that returns a torch.nn.Module")
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--rule", default="sgd")
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--most", type=float, default=math.inf)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="as torch names it: cpu, cuda, mps")
    given = parser.parse_args(words)
    module, _, name = given.model.partition(":")
    torch.manual_seed(given.seed)
    model = getattr(importlib.import_module(module), name)().to(given.device)
    rule = Rule(given.rule, given.rate, given.most)
    examples, test = (load(path).to(given.device) for path in (given.train, given.test))
    for row in train(model, examples, test, rule, given.epochs, given.batch, given.seed):
        print(json.dumps(row), flush=True)  # a run takes hours: what is done is on the screen


if __name__ == "__main__":
    main()
