"""Likely wrong answers to problem set 5, and the points they lose."""

BIAS = """
def with_bias(D, q):
    G = {gram}
    first, second, both = float(G[0, 0]), float(G[1, 1]), float(G[0, 1])
    if both >= first and {alone}:
        return 1 / first, 0.0
    if both >= second and {alone}:
        return 0.0, 1 / second
    determinant = first * second - both**2
    if determinant <= 0 and {checked}:
        return None
    return (second - both) / (determinant or 1e-300), (first - both) / (determinant or 1e-300)
"""
BIAS_RIGHT = {"gram": "(D @ D.T) * (q @ q.T + 1)", "alone": "True", "checked": "True"}

BEFORE = """
def not_before(norm, start, etas, beta, psi, n, excess):
    ratio = psi / ({n} * excess)
    needed = {norm} * math.log(ratio - {one}) if ratio > {one} else 0.0
    reach, velocity = {start}, 0.0
    if reach >= needed:
        return 0
    for t, eta in enumerate(etas, {first}):
        velocity = {velocity}
        reach += velocity
        if reach >= needed:
            return t
    return {never}
"""
BEFORE_RIGHT = {
    "n": "n", "norm": "norm", "one": 1, "start": "start", "first": 1, "velocity": "beta * velocity + eta", "never": None
}  # fmt: skip

CIRCLE = """
delta = {delta}
angles = torch.tensor([[math.pi / 6, -math.pi / 2], [-math.pi / 6 + delta, -math.pi / 6 - delta]])
tokens = {length} * torch.stack([angles.cos(), angles.sin()], -1)
labels = torch.tensor([1.0, {second}])
decoder = torch.tensor([{long} / radius, 0.0])
"""
CIRCLE_RIGHT = {"delta": "0.4 / push", "length": "radius", "second": -1.0, "long": 10}

CHAPTER = """
tokens = torch.tensor([[[2.0, 1], [1, 1]], [[1.0, 0], [0, 0]]])
labels = torch.tensor([1.0, -1.0])
decoder = torch.ones(2)
"""

OPPOSITE = """
tokens = radius * torch.tensor([[[1.0, 0], [0, -1]], [[-1, 0], [0, 1]]])
labels = torch.ones(2)
decoder = torch.ones(2)
"""

ENTROPY_NAIVE = """
def log_entropy(h):
    phi = torch.softmax(torch.tensor([0.0] + [-each for each in h]), 0)
    return float({off}.log())
"""

ENTROPY_LOGS = """
def log_entropy(h):
    logs = torch.log_softmax(torch.tensor([0.0] + [-each for each in h]), 0)
    return float(torch.logsumexp(logs + (-logs).log(), 0))
"""

ENTROPY = """
def log_entropy(h):
    def add(logs):
        top = max(logs)
        return top + math.log(sum(math.exp(each - top) for each in logs))

    logits = sorted([0.0] + [-each for each in h], reverse={sort})
    x = [logits[0] - each for each in logits[1:]]
    log_S = add([-each for each in x])
    a = math.log1p(math.exp(log_S)) if log_S < 700 else log_S
    log_a = math.log(a) if log_S > {tiny} else log_S
    return add([log_a - a] + [math.log(each + a) - each - a for each in x if each + a > 0])
"""
ENTROPY_RIGHT = {"sort": "True", "tiny": -40}


def of(text: str, right: dict, **wrong: object) -> str:
    """The right answer with a part that is wrong."""
    return text.format(**(right | wrong))


WRONG = {
    "q1": [
        ("no bias", 12, of(BIAS, BIAS_RIGHT, gram="(D @ D.T) * (q @ q.T)")),
        ("a bias of the keys", 12, of(BIAS, BIAS_RIGHT, gram="(D @ D.T + 1) * (q @ q.T)")),
        ("every sample alone", 12, of(BIAS, BIAS_RIGHT, gram="((D @ D.T) * (q @ q.T + 1)).diagonal().diag()")),
        ("both constraints always pull", 4, of(BIAS, BIAS_RIGHT, alone="False")),
        ("no word where nothing separates", 3, of(BIAS, BIAS_RIGHT, checked="False")),
        ("which one is enough is mixed up", 4, of(BIAS, BIAS_RIGHT).replace("1 / first, 0.0", "0.0, 1 / first")),
    ],
    "q2": [
        ("no n", 9, of(BEFORE, BEFORE_RIGHT, n=1)),
        ("an exponential for off", 9, of(BEFORE, BEFORE_RIGHT, one=0)),
        ("norms not in units of W_mm", 14, of(BEFORE, BEFORE_RIGHT, norm=1)),
        ("the start is left out", 14, of(BEFORE, BEFORE_RIGHT, start="0.0")),
        ("the start points the wrong way", 14, of(BEFORE, BEFORE_RIGHT, start="-start")),
        ("no momentum", 10, of(BEFORE, BEFORE_RIGHT, velocity="eta")),
        ("the final velocity at once", 10, of(BEFORE, BEFORE_RIGHT, velocity="eta / (1 - beta)")),
        ("one step too early", 14, of(BEFORE, BEFORE_RIGHT, first=0)),
        ("a logarithm below 0 where nothing is excluded", 5, of(BEFORE, BEFORE_RIGHT).replace(" if ratio > 1 else 0.0", "")),
        ("a number where it is never", 5, of(BEFORE, BEFORE_RIGHT, never="len(etas)")),
    ],
    "q3": [
        ("the example of the chapter", 16, CHAPTER),
        ("the circle of radius 1", 4, of(CIRCLE, CIRCLE_RIGHT, length="1.0")),
        ("scores that are nearly equal", 8, of(CIRCLE, CIRCLE_RIGHT, long=0.5)),
        ("a chord that is too long", 4, of(CIRCLE, CIRCLE_RIGHT, delta="0.4")),
        ("both labels alike", 12, of(CIRCLE, CIRCLE_RIGHT, second=1.0)),
        ("the decoder turned round", 8, of(CIRCLE, CIRCLE_RIGHT, long=-10)),
        ("opposite matrices", 16, OPPOSITE),
    ],
    "q4": [
        ("weights that underflow", 7, of(ENTROPY_NAIVE, {}, off="(-(phi * phi.log()).sum())")),
        ("logarithms that lose the largest weight's own share", 7, ENTROPY_LOGS),
        ("gaps in place of the surprise", 12, of(ENTROPY_NAIVE, {}, off="(phi[1:] @ torch.tensor(h) - phi[0] * phi[0].log())")),
        ("the optimal token's own share is left out", 12, of(ENTROPY_NAIVE, {}, off="(-(phi * phi.log())[1:].sum())")),
        ("the entropy itself", 12, of(ENTROPY, ENTROPY_RIGHT).replace("    return add([log_a", "    return math.exp(add([log_a").replace("if each + a > 0])", "if each + a > 0]))")),
        ("log1p of 0", 7, of(ENTROPY, ENTROPY_RIGHT, tiny="-math.inf")),
        ("how much is off the optimal token", 12, of(ENTROPY_NAIVE, {}, off="(1 - phi[0])")),
        ("the optimal token as reference, whichever is largest", 3, of(ENTROPY, ENTROPY_RIGHT).replace("sorted([0.0] + [-each for each in h], reverse=True)", "[0.0] + [-each for each in h]")),
    ],
}  # fmt: skip
