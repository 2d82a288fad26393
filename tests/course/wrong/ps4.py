"""Likely wrong answers to problem set 4, and the points they lose."""

LEAKY = """
def leaky(x, w, kappa):
    h = in_w = in_kappa = in_first = 0.0
    for t, drive in enumerate(x):
        new = math.tanh(w * h + drive)
        slope = kappa * (1 - new**2)
        keep = {keep}
        in_w = keep * in_w + {w}
        in_kappa = keep * in_kappa + {kappa}
        in_first = keep * in_first if t else {first}
        h = (1 - kappa) * h + kappa * new
    return h, in_w, in_kappa, in_first
"""
LEAKY_RIGHT = {"keep": "1 - kappa + slope * w", "w": "slope * h", "kappa": "new - h", "first": "slope"}

LINEAR = """
def worst_and_typical(w, T, R):
    j = torch.arange(1, {T})
    factors = {j}torch.tensor({w}) ** (j - 1)
    return R * float({worst}), {R} * float({typical})


v = weight**2
quotient = {quotient}
"""
LINEAR_RIGHT = {
    "T": "T", "j": "j * ", "w": "abs(float(w))", "worst": "factors.sum()", "R": "R", "typical": "factors.square().sum().sqrt()",
    "quotient": "(1 - v) ** 1.5 / ((1 - weight) ** 2 * math.sqrt(1 + v))",
}  # fmt: skip

FROSTED = """
def best_loss(T, L, beta, variance, noise):
    P = {start}
    for _ in range({count}):
        P = {after}
    return P
"""
FROSTED_RIGHT = {
    "start": "variance / (1 - beta**2)", "count": "T // L", "after": "beta**2 * P * noise / (P + noise) + variance"
}  # fmt: skip

VERDICT = """
def verdict(widths, curves, p, resolution):
    away = widths.log() - widths.log().mean()
    slopes = {slopes}
    seeds = len(slopes)
    half = {half}
    low, high = float(slopes.mean()) - half, float(slopes.mean()) + half
    if {holds}:
        return "holds"
    return "violated" if {violated} else "undecided"
"""
VERDICT_RIGHT = {
    "slopes": "curves.log() @ away / (away @ away)",
    "half": "stats.t.ppf(0.975, seeds - 1) * float(slopes.std()) / math.sqrt(seeds)",
    "holds": "p - resolution <= low and high <= p + resolution",
    "violated": "high < p - resolution or p + resolution < low",
}

SLOPE = """
def slope_error(widths, S, run, problem, shared):
    away = widths.log(){middle}
    variance = {variance}
    return math.sqrt(variance / ({S} * float(away @ away))){power}


once = slope_error(2.0 ** torch.arange(3, 9), 1, sigma, tau, False)
needed = {needed}
"""
SLOPE_RIGHT = {
    "middle": " - widths.log().mean()", "variance": "run**2 + (0.0 if shared else problem**2)", "S": "S", "power": "",
    "needed": "math.ceil((1.96 * math.sqrt((sigma**2 + tau**2) / 17.5) / math.log(2) / 0.03) ** 2)",
}  # fmt: skip


def of(text: str, right: dict, **wrong: object) -> str:
    """The right answer with a part that is wrong."""
    return text.format(**(right | wrong))


WRONG = {
    "q1": [
        ("the leak is forgotten in the derivatives", 12, of(LEAKY, LEAKY_RIGHT, keep="slope * w")),
        ("κ inside tanh is not in front of the slope", 12, of(LEAKY, LEAKY_RIGHT).replace("kappa * (1 - new**2)", "1 - new**2")),
        ("the direct part of κ in the leak is missing", 5, of(LEAKY, LEAKY_RIGHT, kappa="new")),
        ("the first drive passes undamped", 4, of(LEAKY, LEAKY_RIGHT, first="1.0")),
        ("the new state instead of the old one", 7, of(LEAKY, LEAKY_RIGHT, w="slope * ((1 - kappa) * h + kappa * new)")),
    ],
    "q2": [
        ("the geometric sum", 10, of(LINEAR, LINEAR_RIGHT, j="")),
        ("one step too many", 10, of(LINEAR, LINEAR_RIGHT, T="T + 1")),
        ("drives all of one sign", 7, of(LINEAR, LINEAR_RIGHT, w="float(w)", worst="factors.sum().abs()")),
        ("the mean square", 6, of(LINEAR, LINEAR_RIGHT, typical="factors.square().sum()")),
        ("the quotient upside down", 2, of(LINEAR, LINEAR_RIGHT, quotient="((1 - weight) ** 2 * math.sqrt(1 + v)) / (1 - v) ** 1.5")),
    ],
    "q3": [
        ("as if X were seen", 14, of(FROSTED, FROSTED_RIGHT, after="variance")),
        ("one observation only", 10, of(FROSTED, FROSTED_RIGHT, count="min(1, T // L)")),
        ("Y is forecast", 14, of(FROSTED, FROSTED_RIGHT).replace("return P", "return P + noise")),
        ("a chain that begins without variance of its own", 14, of(FROSTED, FROSTED_RIGHT, start="variance")),
        ("no more than fifty rounds", 6, of(FROSTED, FROSTED_RIGHT, count="min(50, T // L)")),
        ("all values of the window", 14, of(FROSTED, FROSTED_RIGHT, count="T")),
        ("a window of exactly L values does not help", 14, of(FROSTED, FROSTED_RIGHT, count="(T - 1) // L")),
    ],
    "q5": [
        ("a claim holds if the interval contains it", 9, of(VERDICT, VERDICT_RIGHT, holds="low <= p <= high")),
        ("the normal quantile", 6, of(VERDICT, VERDICT_RIGHT, half="1.96 * float(slopes.std()) / math.sqrt(seeds)")),
        ("the spread instead of the error of the mean", 9, of(VERDICT, VERDICT_RIGHT, half="stats.t.ppf(0.975, seeds - 1) * float(slopes.std())")),
        ("the mean slope alone", 12, of(VERDICT, VERDICT_RIGHT, half="0.0")),
        ("violated as soon as the mean is outside", 9, of(VERDICT, VERDICT_RIGHT, violated="abs(float(slopes.mean()) - p) > resolution")),
    ],
    "q6": [
        ("shared problems as if they were own ones", 7, of(SLOPE, SLOPE_RIGHT, variance="run**2 + problem**2")),
        ("own problems as if they were shared", 6, of(SLOPE, SLOPE_RIGHT, variance="run**2")),
        ("a line through the origin", 10, of(SLOPE, SLOPE_RIGHT, middle="")),
        ("the variance", 10, of(SLOPE, SLOPE_RIGHT, power=" ** 2")),
        ("standard deviations add up", 6, of(SLOPE, SLOPE_RIGHT, variance="(run + (0.0 if shared else problem)) ** 2")),
        ("rounded down", 2, of(SLOPE, SLOPE_RIGHT, needed="math.ceil((1.96 * once / 0.03) ** 2) - 1")),
    ],
}  # fmt: skip
