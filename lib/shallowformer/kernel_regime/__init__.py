"""Arda, Cayci, Eryilmaz 2026 (arXiv 2601.16514): gradient descent on a shallow Transformer in the kernel regime.

Throughout, unless a function says otherwise:

    X: tokens of each sample, in the unit ball; n samples, T tokens a sample, d their dimension.
    y: labels.
    query: how q_X is made, see ``queries``; q a query, q_norm its length.
    sigma: the activation σ.
    phi: parameters φ = (c, U, W) of m heads; phi0 the initialisation φ⁽⁰⁾, around which Ω_ρ lies.
    m: number of heads, even where they come in pairs.
    alpha: attention weights.
    U: feed-forward vector; R a bound on ‖U‖, or of each head the longest U_i in Ω_ρ.
    rho: radii (ρ_c, ρ_u, ρ_w) of Ω_ρ, each at least 0; None for no projection.
    nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of a mapping v, or radii of its transported point, each at least 0.
    B: the paper's B_{U,m}, a bound on every ‖U_i‖ over Ω_ρ.
    lam: λ = Wq of every head.
    delta: probability of failure, in (0, 1).
    loss: the data set, with labels for one student or several side by side.
    eta: step size η, above 0.
    steps: number of steps τ, at least 1.
    generator: source of randomness.
    dtype: of the result.
"""
