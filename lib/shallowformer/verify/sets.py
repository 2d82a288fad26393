"""Admissible sets: products of regions, one for each named variable of a claim."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Generator

from shallowformer.verify.regions import Region, Values

#: b points, by name of the variable.
Point = dict[str, Values]


@dataclass(frozen=True)
class AdmissibleSet:
    """A product of regions, one for each named variable of a claim."""

    regions: Mapping[str, Region]  # name → region

    def draw(self, restarts: int, generator: Generator) -> Point:
        """Draw admissible starting points."""
        return {name: region.admit(region.draw(restarts, generator)) for name, region in self.regions.items()}

    def edges(self, restarts: int, generator: Generator) -> Point:
        """Draw admissible points of which at least one variable lies at an edge of its region, and each does in three of four."""
        inside = self.draw(restarts, generator)
        chosen = torch.rand(restarts, len(self.regions), generator=generator) < 0.75
        chosen[torch.arange(restarts), torch.randint(len(self.regions), (restarts,), generator=generator)] = (
            True
        )
        return {
            name: torch.where(
                chosen[:, k].view(-1, *[1] * (inside[name].ndim - 1)),
                region.admit(region.edges(restarts, generator)),
                inside[name],
            )
            for k, (name, region) in enumerate(self.regions.items())
        }

    def admit(self, raw: Point) -> Point:
        """Map raw values, by name, to admissible ones."""
        return {name: region.admit(raw[name]) for name, region in self.regions.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} in {region.text}" for name, region in self.regions.items())


def product(**regions: Region) -> AdmissibleSet:
    """The admissible set of several named variables; the functions of the claim take these names."""
    if not regions:
        raise ValueError("product needs at least one variable, e.g. product(z=logits(3)), got none")
    for name, region in regions.items():
        if not isinstance(region, Region):
            raise ValueError(
                f"{name} must be a region such as ball(3) or logits(5), got {type(region).__name__}"
            )
    return AdmissibleSet(dict(regions))
