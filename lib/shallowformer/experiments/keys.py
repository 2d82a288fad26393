"""The name of a row: a hash of the experiment's name and of the configuration's fields."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping

#: Hexadecimal digits of a key: among a million rows two agree with probability 3e-8.
DIGITS = 16


def described(config: object) -> dict:
    """The fields of a configuration as JSON has them: tuples become lists.

    Args:
        config: an instance of a frozen dataclass; fields are numbers, strings, bools, None, or tuples of these. A field that is computed
            should be rounded alike everywhere (+, −, ×, ÷ and square roots are; powers need not be), or keys differ between machines.
    """
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise ValueError(f"config must be an instance of a frozen dataclass, got {config!r}")
    if not type(config).__dataclass_params__.frozen:
        raise ValueError(
            f"config must be frozen, but {type(config).__name__} is a dataclass without frozen=True"
        )
    return {
        field.name: _plain(field.name, getattr(config, field.name)) for field in dataclasses.fields(config)
    }


def key(name: str, fields: Mapping[str, object]) -> str:
    """The key of a row: the first 16 digits of the SHA-256 hash of name and fields, as JSON with sorted names and no blanks."""
    text = json.dumps([name, dict(fields)], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def words(fields: Mapping[str, object]) -> str:
    """A configuration in a line, for messages: ``m = 8, seed = 0``."""
    return ", ".join(f"{name} = {value}" for name, value in fields.items())


def _plain(name: str, value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(name, item) for item in value]
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    raise ValueError(
        f"config.{name} must be a finite number, a string, a bool, None or a tuple of these, got {value!r}"
        f" ({type(value).__name__})"
    )
