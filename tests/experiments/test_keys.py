"""Keys of rows, which stay."""

import json
from dataclasses import dataclass

import pytest

from shallowformer.experiments import keys

#: Of ["toy",{"eta":0.1,"m":8,"name":"\u03c1","paper":true,"rho":[3.0,null]}]; stored rows are lost if this changes.
KEY = "9d19e745b529e926"


@dataclass(frozen=True)
class Config:
    m: int = 8
    eta: float = 0.1
    rho: tuple = (3.0, None)
    paper: bool = True
    name: str = "ρ"


def test_a_key_never_changes():
    fields = keys.described(Config())
    assert fields == {"m": 8, "eta": 0.1, "rho": [3.0, None], "paper": True, "name": "ρ"}
    assert keys.key("toy", fields) == KEY
    assert keys.key("toy", dict(reversed(fields.items()))) == KEY
    assert keys.key("toy", json.loads(json.dumps(fields))) == KEY


def test_every_field_and_the_name_count():
    variants = [
        Config(),
        Config(m=9),
        Config(eta=0.2),
        Config(rho=(3.0,)),
        Config(paper=False),
        Config(name="r"),
    ]
    found = {keys.key(name, keys.described(config)) for name in ("toy", "other") for config in variants}
    assert len(found) == 2 * len(variants)


@dataclass
class Thawed:
    m: int = 8


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config(eta=float("nan")), r"config\.eta must be a finite number.*got nan"),
        (Config(m=[8]), r"config\.m must be .* got \[8\] \(list\)"),
        (Config(rho=(object(),)), r"config\.rho must be"),
        (Thawed(), "config must be frozen"),
        (Config, "config must be an instance of a frozen dataclass"),
        ({"m": 8}, "config must be an instance of a frozen dataclass"),
    ],
)
def test_a_configuration_that_is_none_is_refused(config, message):
    with pytest.raises(ValueError, match=message):
        keys.described(config)
