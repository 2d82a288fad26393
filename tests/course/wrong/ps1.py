"""Likely wrong answers to problem set 1, and the points they lose."""

ADD = """
def add_token(psi, a, M, x, logit):
    p = torch.sigmoid(torch.as_tensor(logit - psi))
    away = x - a
    new_psi = torch.logaddexp(torch.as_tensor(psi), torch.as_tensor(logit))
    return new_psi, a + p * away, {M}
"""

NUMBERS = """
alpha = torch.tensor(k) / sum(k)
later = alpha.flip(0).cumsum(0)[:-1]
angle = 2 * math.pi * torch.arange(5) / 5
tokens = torch.stack([angle.cos(), angle.sin()], 1) * torch.tensor([rho, 1, 1, 1, 1])[:, None]
mean = alpha @ tokens
sets = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 5) @ alpha
most = float({most})
spread = float({spread})
"""
MOST = "(4 * later * (1 - later)).max()"
SPREAD = "alpha @ tokens.square().sum(1) - mean.square().sum()"

SINK = """
def sink_gradients(X, q, U, W, b):
    logits = torch.cat([torch.as_tensor(b, dtype=X.dtype).reshape(1), X @ W @ q])
    weights = torch.softmax(logits, 0)
    empty, alpha = weights[0], weights[1:]
    scores = X @ U
    z = alpha @ scores
    slope = 1 - torch.tanh(z) ** 2
    MU = (alpha * (scores - z)) @ X
    return {W}, {b}
"""
FOR_W, FOR_B = "slope * torch.outer(MU, q)", "-slope * empty * z"

NORMALISED = """
def sink_gradients(X, q, U, W, b):
    logits = torch.cat([torch.as_tensor(b, dtype=X.dtype).reshape(1), X @ W @ q])
    weights = torch.softmax(logits, 0)
    z = weights[1:] @ X @ U
    for_b = -(1 - torch.tanh(z) ** 2) * weights[0] * z
    alpha = torch.softmax(X @ W @ q, 0)
    z = alpha @ X @ U
    return (1 - torch.tanh(z) ** 2) * torch.outer((alpha * (X @ U - z)) @ X, q), for_b
"""

OVERFLOWING = """
def sink_gradients(X, q, U, W, b):
    e, sink = torch.exp(X @ W @ q), torch.exp(torch.as_tensor(b, dtype=X.dtype))
    alpha, empty = e / (e.sum() + sink), sink / (e.sum() + sink)
    scores = X @ U
    z = alpha @ scores
    slope = 1 - torch.tanh(z) ** 2
    return slope * torch.outer((alpha * (scores - z)) @ X, q), -slope * empty * z
"""

DIFFERENTIATED = """
def sink_gradients(X, q, U, W, b):
    with torch.enable_grad():
        W = W.clone().requires_grad_()
        b = torch.as_tensor(b, dtype=X.dtype).clone().reshape(1).requires_grad_()
        h = torch.tanh(U @ (torch.softmax(torch.cat([b, X @ W @ q]), 0)[1:] @ X))
        for_W, for_b = torch.autograd.grad(h, (W, b))
    return for_W, for_b[0]
"""

DIFFERENTIATED_TWICE = """
def second_derivative(X, q, U, W, dq, dU, dW):
    with torch.enable_grad():
        e = torch.zeros((), dtype=torch.float64, requires_grad=True)
        h = torch.tanh((U + e * dU) @ (torch.softmax(X @ (W + e * dW) @ (q + e * dq), 0) @ X))
        (first,) = torch.autograd.grad(h, e, create_graph=True)
        return torch.autograd.grad(first, e)[0]
"""

SECOND = """
def second_derivative(X, q, U, W, dq, dU, dW):
    alpha = torch.softmax(X @ W @ q, 0)
    a = alpha @ X
    Y = X - a
    speed, acceleration = dW @ q + W @ dq, {acceleration}
    u, du, y = Y @ U, Y @ dU, Y @ speed
    first = dU @ a + alpha @ (u * y)
    second = {mixed} * alpha @ (du * y) + alpha @ (u * y**2) + alpha @ (u * (Y @ acceleration))
    h = torch.tanh(U @ a)
    return (1 - h**2) * second - {bend}
"""
TWICE, BEND = "2 * dW @ dq", "2 * h * (1 - h**2) * first**2"

WRONG = {
    "q1": [
        ("only the old spread", 12, ADD.format(M="(1 - p) * M")),
        ("one factor of the old weight missing", 12, ADD.format(M="(1 - p) * M + p * torch.outer(away, away)")),
        ("the old spread at its full weight", 12, ADD.format(M="M + p * (1 - p) * torch.outer(away, away)")),
        (
            "exponentials overflow",
            3,
            """
def add_token(psi, a, M, x, logit):
    old, new = torch.exp(torch.as_tensor(psi)), torch.exp(torch.as_tensor(logit))
    p = new / (old + new)
    away = x - a
    return torch.log(old + new), a + p * away, (1 - p) * M + p * (1 - p) * torch.outer(away, away)
""",
        ),
    ],
    "q2": [
        ("all sets instead of the ordered ones", 4, NUMBERS.format(most="(4 * sets * (1 - sets)).max()", spread=SPREAD)),
        ("the factor 4 is missing", 4, NUMBERS.format(most="(later * (1 - later)).max()", spread=SPREAD)),
        ("all tokens of length 1", 4, NUMBERS.format(most=MOST, spread="1 - mean.square().sum()")),
        ("the mean is not squared", 4, NUMBERS.format(most=MOST, spread="alpha @ tokens.square().sum(1) - mean.norm()")),
        ("nothing for the spread", 5, f"{NUMBERS.format(most=MOST, spread=0)}\nspread = ..."),
    ],
    "q3": [
        ("the sign of the sink's gradient", 8, SINK.format(W=FOR_W, b="slope * empty * z")),
        ("the sink's weight is missing", 12, SINK.format(W=FOR_W, b="-slope * z")),
        ("scores are not centred", 12, SINK.format(W="slope * torch.outer((alpha * scores) @ X, q)", b=FOR_B)),
        ("transposed", 12, SINK.format(W="slope * torch.outer(q, MU)", b=FOR_B)),
        ("weights that add up to 1", 12, NORMALISED),
        ("exponentials overflow", 4, OVERFLOWING),
        ("automatic differentiation", 16, DIFFERENTIATED),
    ],
    "q5": [
        ("the mixed term once", 12, SECOND.format(acceleration=TWICE, mixed="1", bend=BEND)),
        ("no acceleration of the logits", 12, SECOND.format(acceleration="0 * dq", mixed="2", bend=BEND)),
        ("the acceleration by half", 12, SECOND.format(acceleration="dW @ dq", mixed="2", bend=BEND)),
        ("the second derivative of tanh is missing", 16, SECOND.format(acceleration=TWICE, mixed="2", bend="0")),
        ("the first derivative is not squared", 16, SECOND.format(acceleration=TWICE, mixed="2", bend="2 * h * (1 - h**2) * first")),
        ("automatic differentiation", 16, DIFFERENTIATED_TWICE),
    ],
}  # fmt: skip
