"""Wrong answers to the capstone, and the points that they lose."""

_SAMPLE = """
def sample(seed):
    generator = torch.Generator().manual_seed(int(seed))
    T = int(torch.randint(2, 12, (), generator=generator))
    z = 4 * torch.randn(T, generator=generator)
    return {"z": z, "u": 3 * torch.randn(T, generator=generator)}


def left(point):
    before = torch.softmax(point["z"], -1)
    return float((torch.softmax(point["z"] + point["u"], -1) - before).norm())


def old(point):
    return float(point["u"].norm())


def new(point):
    return math.sqrt(2) * math.tanh(float(point["u"].norm()) / (2 * math.sqrt(2)))


def witness(k):
    z = torch.tensor([-(1 + k) / 2, (1 + k) / 2])
    return {"z": z, "u": -2 * z}
"""

WRONG = {
    "q2": [
        (
            "a new bound that is right and nowhere tight",
            10,
            _SAMPLE + "\n\ndef new(point):\n    return old(point) / 2",
        ),
        ("a new bound that is too small", 24, _SAMPLE + "\n\ndef new(point):\n    return 0.05 * old(point)"),
        (
            "the diameter, above the paper's bound at short steps, which only the hidden seeds draw",
            16,
            _SAMPLE + "\n\ndef new(point):\n    return math.sqrt(2)",
        ),
        (
            "one point for every seed",
            6,
            _SAMPLE + "\n\nfirst = sample\n\n\ndef sample(seed):\n    return first(0)",
        ),
    ],
}
