"""Where results are stored: ``results/`` of the repository, or what an installation keeps of it."""

import json
import os
import sysconfig
from pathlib import Path

_PLACES = (
    Path(__file__).parents[3] / "results",
    Path(sysconfig.get_path("data")) / "share" / "shallowformer",
)


def path(name: str) -> Path:
    """The file of an experiment.

    Args:
        name: of the experiment.

    Returns:
        Its path: in the repository if this is one, otherwise among what was installed.
    """
    return (_PLACES[0] if _PLACES[0].is_dir() else _PLACES[1]) / f"{name}.json"


def load(name: str) -> list[dict]:
    """The stored rows of an experiment; none if nothing is stored.

    Args:
        name: of the experiment.

    Returns:
        The rows.
    """
    file = path(name)
    return json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []


def save(name: str, rows: list[dict]) -> None:
    """Replace the stored rows, all of them or none.

    Args:
        name: of the experiment.
        rows: what shall be stored.
    """
    file = path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}.part")
    fresh.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")
    fresh.replace(file)
