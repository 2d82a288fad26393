"""How signatures are checked while tests run: shapes by jaxtyping, types by beartype."""

import beartype
import sympy

#: What passes for a number: an int for a float, and for both a symbol that stands for one (``shallowformer.formulas``).
NUMBERS = {int: int | sympy.Basic, float: float | int | sympy.Basic}

checked = beartype.beartype(conf=beartype.BeartypeConf(hint_overrides=beartype.FrozenDict(NUMBERS)))
