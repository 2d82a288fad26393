"""Likely wrong answers to problem set 2, and the points they lose."""

PREDICT = """
def predict(K, K_test, y, eta, k):
    s = {step}
    lam, V = torch.linalg.eigh(K)
    x = s * lam
    near = x < 0.5
    slow = torch.where(near, x, torch.full_like(x, 0.5))
    done = torch.where(near, -torch.expm1({k} * torch.log1p(-slow)), 1 - (1 - x) ** {k})
    zero = lam.abs() <= 1e-14 * lam.abs().max()
    gain = torch.where(zero, torch.full_like(lam, s * k), done / torch.where(zero, torch.ones_like(lam), lam))
    return {sign}K_test @ (V @ (gain * (V.T @ y)))
"""

LIMIT = """
def predict(K, K_test, y, eta, k):
    return K_test @ torch.linalg.pinv(K, hermitian=True, rtol=1e-12) @ y
"""

LOGARITHM = """
def predict(K, K_test, y, eta, k):
    lam, V = torch.linalg.eigh(K)
    x = 2 * eta / len(y) * lam
    zero = lam.abs() <= 1e-14 * lam.abs().max()
    done = -torch.expm1(k * torch.log1p(-x))
    gain = torch.where(zero, torch.full_like(lam, 2 * eta * k / len(y)), done / torch.where(zero, 1.0, lam))
    return K_test @ (V @ (gain * (V.T @ y)))
"""

READOUT = """
def readout(U, W, A, b, B):
    return {}
"""

BIAS = """
def bias_block(X, Z, q, p, U, W, b):
    def feature(X, q):
        alpha = torch.softmax(X @ W @ q + {bias}, 0)
        scores = X @ U
        z = alpha @ scores
        return {feature}

    common = min(len(X), len(Z))
    return {product}
"""
FIRST, FEATURE = "b[: len(X)]", "(1 - torch.tanh(z) ** 2) * alpha * (scores - z)"
PRODUCT = "feature(X, q)[:common] @ feature(Z, p)[:common]"

DIFFERENTIATED = """
def bias_block(X, Z, q, p, U, W, b):
    def gradient(X, q):
        with torch.enable_grad():
            moving = b.clone().requires_grad_()
            z = U @ (torch.softmax(X @ W @ q + moving[: len(X)], 0) @ X)
            return torch.autograd.grad(torch.tanh(z), moving)[0]

    return gradient(X, q) @ gradient(Z, p)
"""

QUADRATURE = """
def averaged_kernel(X, Z, q, p, W):
    import numpy as np

    x, weight = (torch.as_tensor(each) for each in np.polynomial.hermite_e.hermegauss(40))
    U = torch.cartesian_prod(*[x] * X.shape[1]).reshape(-1, X.shape[1])
    weight = torch.cartesian_prod(*[weight / weight.sum()] * X.shape[1]).reshape(len(U), -1).prod(1)
    z, a, MU = [], [], []
    for tokens, query in ((X, q), (Z, p)):
        alpha = torch.softmax(tokens @ W @ query, 0)
        a.append(alpha @ tokens)
        scores = U @ tokens.T
        z.append(scores @ alpha)
        MU.append((alpha * (scores - z[-1][:, None])) @ tokens)
    slopes = z[0].cos() * z[1].cos()
    return weight @ (z[0].sin() * z[1].sin() + slopes * (a[0] @ a[1] + (q @ p) * (MU[0] * MU[1]).sum(1)))
"""

SINE = """
def averaged_kernel(X, Z, q, p, W):
    def moments(X, q):
        alpha = torch.softmax(X @ W @ q, 0)
        a = alpha @ X
        return a, (X - a).T @ (alpha[:, None] * (X - a))

    (a, M), (b, N) = moments(X, q), moments(Z, p)
    product = {product}
    total = 0.0
    for sign in (1.0, -1.0):
        v = a - sign * b
        inner = {readout} + a @ b + {angle} * {attention}
        total = total + {weight} * inner / 2
    return total
"""
RIGHT = {
    "product": "M @ N",
    "readout": "sign",
    "angle": "(q @ p)",
    "attention": "(product.trace() - v @ product @ v)",
    "weight": "torch.exp(-v @ v / 2)",
}

WRONG = {
    "q1": [
        ("the factor 2 of the square", 14, PREDICT.format(step="eta / len(y)", k="k", sign="")),
        ("the mean over the samples", 14, PREDICT.format(step="2 * eta", k="k", sign="")),
        ("the sign", 14, PREDICT.format(step="2 * eta / len(y)", k="k", sign="-")),
        ("one step too many", 14, PREDICT.format(step="2 * eta / len(y)", k="(k + 1)", sign="")),
        ("the limit of many steps", 14, LIMIT),
        ("the logarithm of a negative factor", 5, LOGARITHM),
    ],
    "q2": [
        ("the divergence of one column", 9, READOUT.format("U @ (A @ U + b) + (W * (B @ W)).sum() - A.trace() - B.trace()")),
        ("no divergence", 12, READOUT.format("U @ (A @ U + b) + (W * (B @ W)).sum()")),
        ("the sign", 12, READOUT.format("A.trace() + len(U) * B.trace() - U @ (A @ U + b) - (W * (B @ W)).sum()")),
        ("B from the right", 9, READOUT.format("U @ (A @ U + b) + (W * (W @ B)).sum() - A.trace() - len(U) * B.trace()")),
        ("without the shift", 9, READOUT.format("U @ (A @ U) + (W * (B @ W)).sum() - A.trace() - len(U) * B.trace()")),
    ],
    "q3": [
        ("no slopes", 12, BIAS.format(bias=FIRST, feature="alpha * (scores - z)", product=PRODUCT)),
        ("scores are not centred", 12, BIAS.format(bias=FIRST, feature="(1 - torch.tanh(z) ** 2) * alpha * scores", product=PRODUCT)),
        ("the queries' angle", 12, BIAS.format(bias=FIRST, feature=FEATURE, product=f"(q @ p) * ({PRODUCT})")),
        ("weights without the bias", 12, BIAS.format(bias="0", feature=FEATURE, product=PRODUCT)),
        ("one length only", 3, BIAS.format(bias=FIRST, feature=FEATURE, product="feature(X, q) @ feature(Z, p)")),
        ("positions counted from the end", 3, BIAS.format(bias=FIRST, feature=FEATURE, product="feature(X, q)[-common:] @ feature(Z, p)[-common:]")),
        ("automatic differentiation", 12, DIFFERENTIATED),
    ],
    "q5": [
        ("the trace alone", 16, SINE.format(**RIGHT | {"attention": "product.trace()"})),
        ("the sign within the second derivative", 16, SINE.format(**RIGHT | {"attention": "(product.trace() + v @ product @ v)"})),
        ("cosines for sines", 16, SINE.format(**RIGHT | {"readout": "1"})),
        ("the queries' angle is missing", 16, SINE.format(**RIGHT | {"angle": "1"})),
        ("one covariance for both", 16, SINE.format(**RIGHT | {"product": "M @ M"})),
        ("length for its square", 16, SINE.format(**RIGHT | {"weight": "torch.exp(-v.norm() / 2)"})),
        ("quadrature, which no longer does where d is large", 11, QUADRATURE),
    ],
}  # fmt: skip
