"""Likely wrong answers to problem set 3, and the points they lose."""

FLOOR = """
def misfit_floor(V, losses, squares, eta):
    pull = (V[1:] - V[:-1]) / ({four} * eta) + losses{step}
    return ({size} / losses{root}).max()
"""
FLOOR_RIGHT = {"four": 4, "step": " - eta / 4 * squares", "size": "pull.abs()", "root": ".sqrt()"}

RADIUS = """
def smallest_radius(S, m, R0):
    s = S / math.sqrt(m)
    middle = 1 - s * (1 + R0)
    square = middle**2 - 4 * s**2 * R0
    if {nothing}:
        return None
    low, high = 2 * s * R0 / (middle + math.sqrt(square)), (middle + math.sqrt(square)) / (2 * s)
    x = {x}
    return x * math.sqrt(m) if {last} else None
"""
RADIUS_RIGHT = {
    "nothing": "s >= 1 or middle <= 0 or square < 0",
    "x": "max(low, s / (1 - s))",
    "last": "x <= high",
}

FENCE_FIXED = """
def smallest_radius(S, m, R0):
    s = S / math.sqrt(m)
    return S * max(1, R0) / (1 - s) if s < 1 else None
"""

EDGE = """
def edge(K, beta, omega):
    return {top} / (float(torch.linalg.eigvalsh(K)[-1]) / {n} + {omega})
"""
EDGE_RIGHT = {"top": "(1 + beta)", "n": "len(K)", "omega": "omega"}

CERTIFICATE = """
def certificate(r, e, G, w, V0, eta):
    root = w.sqrt()
    theta = eta * float(torch.linalg.eigvalsh({G})[:, -1].{top}())
    if {nothing}:
        return math.inf
    epsilon = float(({e}).{worst}().sqrt())
    horizon = eta * len(r)
    return ((epsilon + math.sqrt(epsilon**2 + (1 - theta) * V0 / horizon)) / (2 * (1 - theta))) ** {power}
"""
CERTIFICATE_RIGHT = {
    "G": "root[:, None] * G * root", "top": "max", "nothing": "theta >= 1", "e": "e.square() @ w", "worst": "max", "power": 2
}  # fmt: skip

MODEL = """
start, goal, eta = 0.0, {goal}, {eta}


def blend(w):
    u = min(max((-0.4 - w) / 0.2, 0.0), 1.0)
    return u * u * (3 - 2 * u), 6 * u * (1 - u) / -0.2


def f(w):
    share, _ = blend(w)
    return (1 - share) * (1 + w) + share * ({high} - (w + 1) / {high})


def slope(w):
    share, growth = blend(w)
    return (1 - share) - share / {high}{third}
"""
MODEL_RIGHT = {"goal": -1.0, "eta": 0.5, "high": 50, "third": " + growth * (50 - (w + 1) / 50 - (1 + w))"}

PLATEAU = """
start, goal, eta = 0.0, -1.0, 0.5


def f(w):
    u = min(max((-0.4 - w) / 0.2, 0.0), 1.0)
    share = u * u * (3 - 2 * u)
    return (1 - share) * (1 + w) + share * 50


def slope(w):
    u = min(max((-0.4 - w) / 0.2, 0.0), 1.0)
    share, growth = u * u * (3 - 2 * u), 6 * u * (1 - u) / -0.2
    return (1 - share) + growth * (50 - (1 + w))
"""

JUMP = """
start, goal, eta = 0.0, -1.0, 0.5


def f(w):
    return 1 + w if w > -0.5 else 50 - (w + 1) / 50


def slope(w):
    return 1.0 if w > -0.5 else -1 / 50
"""


def of(text: str, right: dict, **wrong: object) -> str:
    """The right answer with a part that is wrong."""
    return text.format(**(right | wrong))


WRONG = {
    "q1": [
        ("the overshoot is missing", 12, of(FLOOR, FLOOR_RIGHT, step="")),
        ("twice the change of V", 12, of(FLOOR, FLOOR_RIGHT, four=2)),
        ("a loss instead of its root", 12, of(FLOOR, FLOOR_RIGHT, root="")),
        ("a negative mean does not count", 12, of(FLOOR, FLOOR_RIGHT, size="pull")),
    ],
    "q2": [
        ("the fence does not change the constants", 9, FENCE_FIXED),
        ("no attention to short U", 7, of(RADIUS, RADIUS_RIGHT, x="low", last="True")),
        ("the larger root", 12, of(RADIUS, RADIUS_RIGHT, x="high")),
        ("a promise where the roots are below 0", 4, of(RADIUS, RADIUS_RIGHT, nothing="square < 0", last="True")),
        ("the radius of a ball", 12, of(RADIUS, RADIUS_RIGHT).replace("x * math.sqrt(m)", "x")),
    ],
    "q3": [
        ("no n", 14, of(EDGE, EDGE_RIGHT, n=1)),
        ("momentum makes steps shorter", 10, of(EDGE, EDGE_RIGHT, top="(1 - beta)")),
        ("no momentum", 10, of(EDGE, EDGE_RIGHT, top=1)),
        ("half of the leash", 10, of(EDGE, EDGE_RIGHT, omega="omega / 2")),
        ("no leash", 10, of(EDGE, EDGE_RIGHT, omega=0)),
    ],
    "q5": [
        ("weights that are made to add up to 1", 6, of(CERTIFICATE, CERTIFICATE_RIGHT).replace("root = w", "w = w / w.sum()\n    root = w")),
        ("samples alike in G", 8, of(CERTIFICATE, CERTIFICATE_RIGHT, G="G / len(w)")),
        ("misfits alike", 8, of(CERTIFICATE, CERTIFICATE_RIGHT, e="e.square().mean(1)")),
        ("weights squared in G", 12, of(CERTIFICATE, CERTIFICATE_RIGHT, G="w[:, None] * G * w")),
        ("the mean misfit", 8, of(CERTIFICATE, CERTIFICATE_RIGHT, worst="mean")),
        ("along the gradient", 8, of(CERTIFICATE, CERTIFICATE_RIGHT).replace("    theta = ", "    x = r * w\n    along = (torch.einsum('ti,tij,tj->t', x, G, x) / (r.square() @ w)).max()\n    theta = eta * float(along)\n    unused = ")),
        ("the trace", 8, of(CERTIFICATE, CERTIFICATE_RIGHT, top="max").replace("torch.linalg.eigvalsh(root[:, None] * G * root)[:, -1]", "(G.diagonal(dim1=1, dim2=2) @ w)")),
        ("the root of the bound", 10, of(CERTIFICATE, CERTIFICATE_RIGHT, power=1)),
        ("no word where there is no bound", 2, of(CERTIFICATE, CERTIFICATE_RIGHT, nothing="False").replace("(1 - theta) * V0", "abs(1 - theta) * V0")),
    ],
    "q6": [
        ("a plateau on which the run stays", 6, PLATEAU),
        ("a bump that is too low", 6, of(MODEL, MODEL_RIGHT, high=1.2, third=" + growth * (1.2 - (w + 1) / 1.2 - (1 + w))")),
        ("no derivative of the blend", 9, of(MODEL, MODEL_RIGHT, third="")),
        ("a jump", 9, JUMP),
        ("a comparator that misses", 6, of(MODEL, MODEL_RIGHT, goal=-40.0)),
        ("a step that is too long for the slope seen", 9, of(MODEL, MODEL_RIGHT, eta=0.95)),
        ("one model for all: the straight line", 6, "start, goal, eta = 1.0, 0.0, 0.1\n\n\ndef f(w):\n    return w\n\n\ndef slope(w):\n    return 1.0"),
    ],
}  # fmt: skip
