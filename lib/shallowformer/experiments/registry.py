"""Which experiments there are: those of installed packages, found without importing them, and those of one's own, named ``module:NAME``."""

import ast
import difflib
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shallowformer.experiments.experiment import Experiment

#: Entry points of this group name packages; each ``Experiment`` that a module of a folder of theirs assigns is one of the book's.
GROUP = "shallowformer.experiments"


@dataclass(frozen=True)
class Entry:
    """An experiment that has not been imported."""

    place: str  # ``module:NAME`` of the ``Experiment``
    title: str


def _found() -> Iterator[tuple[str, Entry]]:
    """Name and entry of every experiment; both are literals, so they are read off."""
    for package in sorted({point.value for point in metadata.entry_points(group=GROUP)}):
        for room in filter(lambda entry: entry.is_dir(), files(package).iterdir()):
            for module in filter(lambda file: file.name.endswith(".py"), room.iterdir()):
                for node in ast.parse(module.read_text(encoding="utf-8")).body:
                    if isinstance(node, ast.Assign) and _name(node.value) == "Experiment":
                        said = {each.arg: each.value for each in node.value.keywords}
                        name, title = (ast.literal_eval(said[key]) for key in ("name", "title"))
                        place = f"{package}.{room.name}.{module.name.removesuffix('.py')}"
                        yield name, Entry(f"{place}:{node.targets[0].id}", title)


def _name(node: ast.expr) -> str:
    """What a call calls, if it is a call of a name."""
    return getattr(getattr(node, "func", None), "id", "")


EXPERIMENTS: Mapping[str, Entry] = dict(sorted(_found()))


class Unknown(LookupError):
    """A name that no experiment has."""


def get(name: str) -> "Experiment":
    """Import an experiment: a registered one, or ``module:NAME`` of one's own."""
    if ":" in name:
        found = _imported(name)
        if found.name in EXPERIMENTS and name != EXPERIMENTS[found.name].place:
            raise Unknown(
                f"{name} is called {found.name!r}, as one of the book's experiments: its rows would go to that one's file; rename it"
            )
        return found
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise Unknown(
            f"no experiment is called {name!r}{hint} There are: {', '.join(sorted(EXPERIMENTS))}. "
            "An experiment of your own is named module:NAME"
        )
    return _imported(EXPERIMENTS[name].place)


def _imported(place: str) -> "Experiment":
    from shallowformer.experiments.experiment import Experiment

    module, _, attribute = place.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), attribute]):
        raise Unknown(f"an experiment of your own is named module:NAME, as in an import, got {place!r}")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and lacks something itself
        raise Unknown(
            f"there is no module {module!r} for the experiment {place!r}; it must be in the current folder, or installed"
        ) from error
    if not isinstance(found, Experiment):
        raise Unknown(f"{module} has no experiment called {attribute!r}")
    return found
