/* A run against its certificate: the mathematics of the panel on the page "A run against its certificate, live".

   The model of part one with d = 8, its gradient (Lemma 1), its linear run, and the recursion of Theorem F, in the letters of
   shallowformer.kernel_regime.linear_run; a test holds every number against the package's. The whole file is one function without
   free names, so that a worker can be made of its text, and so that it runs on the page where a worker is refused. */
"use strict";

function liveMathematics() {
  const D = 8, P = D + D * D, K = 2 * D, ANCHORS = 8, TEACHERS = 128;
  /* Largest |σ″|, |σ‴|, |σ⁗| of tanh; of the fourth and fifth cumulant (linear_run.curvature). */
  const SECOND = 4 / Math.sqrt(27), THIRD = 2, FOURTH = 4.085886, FOUR = 3 / 2, FIVE = 13 / 4;
  const RADII = [0, ...Array.from({ length: 61 }, (_, k) => 1e-4 * 1.18 ** k)];
  const NOTHING = { alpha: 0, beta: 0, gamma: 0, chi: 0 };
  const zeros = (length) => new Float64Array(length);
  const dot = (a, i, b, j, length) => { let sum = 0; for (let k = 0; k < length; k++) sum += a[i + k] * b[j + k]; return sum; };
  const norm = (a, i, length) => Math.sqrt(dot(a, i, a, i, length));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  /* ---- Drawing: the same numbers on every machine, but for the last digit of log and cos ---- */

  /** Standard Gaussians (Box and Muller) from a stream of a seed (the generator mulberry32). */
  function gaussians(seed, stream, count) {
    let state = Math.imul(1000 * seed + stream, 2654435761);
    const uniform = () => {
      state = (state + 0x6D2B79F5) | 0;
      let t = Math.imul(state ^ state >>> 15, 1 | state);
      t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
      return (((t ^ t >>> 14) >>> 0) + 0.5) / 4294967296;
    };
    return Float64Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
  }

  /** Gaussian tokens, those outside of the unit ball projected on it. */
  function tokens(seed, stream, n, T) {
    const X = gaussians(seed, stream, n * T * D);
    for (let i = 0; i < X.length; i += D) {
      const length = Math.max(1, norm(X, i, D));
      for (let a = 0; a < D; a++) X[i + a] /= length;
    }
    return X;
  }

  /** What a run starts from: tokens, labels, and the heads of one partner of every pair. */
  function drawn({ m, n, T, size, seed }) {
    const X = tokens(seed, 0, n, T), anchors = tokens(seed, 1, ANCHORS, T), N = m / 2;
    const teacher = gaussians(seed, 2, TEACHERS * P), heads = gaussians(seed, 3, N * (P + 1));
    const y = zeros(n);
    for (let i = 0; i < TEACHERS; i++) {  // the mean of kernel sections at the anchors
      const ours = new Head(X, n, T, teacher, i * P), theirs = new Head(anchors, ANCHORS, T, teacher, i * P);
      for (let j = 0; j < n; j++) for (let k = 0; k < ANCHORS; k++) y[j] += ours.h[j] * theirs.h[k] + ours.product(j, theirs, k);
    }
    const root = norm(y, 0, n) / Math.sqrt(n);
    const c = zeros(N), theta = zeros(N * P);
    for (let p = 0; p < N; p++) {
      c[p] = heads[p * (P + 1)] < 0 ? -1 : 1;
      theta.set(heads.subarray(p * (P + 1) + 1, (p + 1) * (P + 1)), p * P);
    }
    return { X, y: y.map((value) => size * value / root), c, theta };
  }

  /* ---- Linear algebra ---- */

  /** Eigenvalues of a symmetric matrix of n rows (which is overwritten): Householder's reduction, then QL steps with shifts. */
  function eigenvalues(A, n) {
    const d = zeros(n), e = zeros(n + 1);
    for (let i = n - 1; i > 0; i--) {  // row i becomes (0, …, 0, e[i], d[i])
      let square = 0;
      for (let k = 0; k < i; k++) square += A[i * n + k] ** 2;
      const last = A[i * n + i - 1];
      if (square - last * last <= 0) { e[i] = last; d[i] = A[i * n + i]; continue; }
      const g = last >= 0 ? -Math.sqrt(square) : Math.sqrt(square), h = square - last * g;
      e[i] = g;
      A[i * n + i - 1] = last - g;
      let f = 0;
      for (let j = 0; j < i; j++) {
        let sum = 0;
        for (let k = 0; k <= j; k++) sum += A[j * n + k] * A[i * n + k];
        for (let k = j + 1; k < i; k++) sum += A[k * n + j] * A[i * n + k];
        d[j] = sum / h;
        f += d[j] * A[i * n + j];
      }
      for (let j = 0; j < i; j++) d[j] -= f / (2 * h) * A[i * n + j];
      for (let j = 0; j < i; j++) for (let k = 0; k <= j; k++) A[j * n + k] -= A[i * n + j] * d[k] + d[j] * A[i * n + k];
      d[i] = A[i * n + i];
    }
    d[0] = A[0];
    for (let i = 1; i < n; i++) e[i - 1] = e[i];
    e[n - 1] = 0;
    for (let l = 0; l < n; l++) {
      for (;;) {
        let k = l;
        while (k < n - 1 && Math.abs(e[k]) > 1e-17 * (Math.abs(d[k]) + Math.abs(d[k + 1]))) k++;
        if (k === l) break;
        let g = (d[l + 1] - d[l]) / (2 * e[l]), r = Math.hypot(g, 1);
        g = d[k] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
        let s = 1, c = 1, p = 0, i = k - 1;
        for (; i >= l; i--) {
          const f = s * e[i], b = c * e[i];
          e[i + 1] = r = Math.hypot(f, g);
          if (r === 0) { d[i + 1] -= p; e[k] = 0; break; }
          s = f / r; c = g / r;
          g = d[i + 1] - p;
          r = (d[i] - g) * s + 2 * c * b;
          p = s * r;
          d[i + 1] = g + p;
          g = c * r - b;
        }
        if (r === 0 && i >= l) continue;
        d[l] -= p; e[l] = g; e[k] = 0;
      }
    }
    return d;
  }

  /** The largest eigenvalue of ((0, side), (side, corner)). */
  const arrow = (side, corner) => corner / 2 + Math.hypot(corner / 2, side);

  /* ---- One head (U, W) on all inputs, at the start (linear_run.curvature.Heads) ---- */

  class Head {
    constructor(X, n, T, theta, at) {
      Object.assign(this, { X, n, T });
      this.alpha = zeros(n * T); this.scores = zeros(n * T); this.a = zeros(n * D); this.MU = zeros(n * D);
      this.z1 = zeros(n * K); this.towards = zeros(n * D); this.slopes = zeros(n * K);
      for (const name of ["h", "slope", "bend", "twist", "length"]) this[name] = zeros(n);
      const key = zeros(D);
      for (let j = 0; j < n; j++) {
        const x = j * T * D, last = x + (T - 1) * D, length = norm(X, last, D);
        this.length[j] = length;
        for (let a = 0; a < D; a++) {
          this.towards[j * D + a] = X[last + a] / length;
          key[a] = dot(theta, at + D + a * D, X, last, D);
        }
        let top = -Infinity, sum = 0;
        for (let t = 0; t < T; t++) top = Math.max(top, this.alpha[j * T + t] = dot(key, 0, X, x + t * D, D));
        for (let t = 0; t < T; t++) sum += this.alpha[j * T + t] = Math.exp(this.alpha[j * T + t] - top);
        for (let t = 0; t < T; t++) {
          const weight = this.alpha[j * T + t] /= sum;
          for (let a = 0; a < D; a++) this.a[j * D + a] += weight * X[x + t * D + a];
        }
        const z = dot(theta, at, this.a, j * D, D);
        this.centred(theta, at, j, this.scores, j * T);
        this.covariance(j, this.scores, j * T, this.MU, j * D);
        const h = this.h[j] = Math.tanh(z), slope = this.slope[j] = 1 - h * h;
        this.bend[j] = -2 * h * slope;
        this.twist[j] = slope * (6 * h * h - 2);
        for (let a = 0; a < D; a++) {
          this.z1[j * K + a] = this.a[j * D + a];
          this.z1[j * K + D + a] = length * this.MU[j * D + a];
        }
        for (let a = 0; a < K; a++) this.slopes[j * K + a] = slope * this.z1[j * K + a];  // ∇h
      }
    }

    /** Scores ⟨u, X_t⟩ of input j's tokens less their mean. */
    centred(u, at, j, to, place) {
      const { X, T } = this;
      let middle = 0;
      for (let t = 0; t < T; t++) middle += this.alpha[j * T + t] * (to[place + t] = dot(u, at, X, (j * T + t) * D, D));
      for (let t = 0; t < T; t++) to[place + t] -= middle;
    }

    /** Σ_t α_t s_t (X_t − a) for scores s. */
    covariance(j, s, at, to, place) {
      const { X, T } = this;
      let sum = 0;
      to.fill(0, place, place + D);
      for (let t = 0; t < T; t++) {
        const weight = this.alpha[j * T + t] * s[at + t];
        sum += weight;
        for (let a = 0; a < D; a++) to[place + a] += weight * X[(j * T + t) * D + a];
      }
      for (let a = 0; a < D; a++) to[place + a] -= sum * this.a[j * D + a];
    }

    /** ⟨∇h(X_j), ∇h(Z_k)⟩, Z the inputs of another head with the same U and W. */
    product(j, other, k) {
      const turn = dot(this.towards, j * D, other.towards, k * D, D);
      return dot(this.slopes, j * K, other.slopes, k * K, D) + turn * dot(this.slopes, j * K + D, other.slopes, k * K + D, D);
    }

    /** Add weight times a derivative in the 2d coordinates to one in U and W. */
    add(weight, covector, at, j, to, place) {
      for (let a = 0; a < D; a++) {
        to[place + a] += weight * covector[at + a];
        const row = weight * covector[at + D + a];
        for (let b = 0; b < D; b++) to[place + D + a * D + b] += row * this.towards[j * D + b];
      }
    }

    /** What input j sees of a move of (U, W): u and Δq/‖q‖. */
    seen(move, place, j, to) {
      for (let a = 0; a < D; a++) {
        to[a] = move[place + a];
        to[D + a] = dot(move, place + D + a * D, this.towards, j * D, D);
      }
    }

    /** Root mean squares over the data of norms at the start, and of the growth of the third derivative within each of RADII. */
    sizes(gram) {
      const { n, T, X } = this, M = zeros(D * D), C = zeros(D * D), each = { value: 0, gradient: 0, hessian: 0, third: 0 };
      const growth = zeros(RADII.length);
      for (let j = 0; j < n; j++) {
        M.fill(0); C.fill(0);
        let low = Infinity, high = -Infinity, width = 0;
        for (let t = 0; t < T; t++) {
          const x = (j * T + t) * D, weight = this.alpha[j * T + t], score = this.scores[j * T + t];
          low = Math.min(low, score); high = Math.max(high, score);
          for (let a = 0; a < D; a++) for (let b = 0; b < D; b++) {
            const square = weight * X[x + a] * X[x + b];
            M[a * D + b] += square; C[a * D + b] += score * square;
          }
          for (let s = 0; s < t; s++) {
            let square = 0;
            for (let a = 0; a < D; a++) square += (X[x + a] - X[(j * T + s) * D + a]) ** 2;
            width = Math.max(width, square);
          }
        }
        for (let a = 0; a < D; a++) for (let b = 0; b < D; b++) {
          const A = this.a, MU = this.MU, o = j * D;
          M[a * D + b] -= A[o + a] * A[o + b];
          C[a * D + b] -= MU[o + a] * A[o + b] + A[o + a] * MU[o + b];
        }
        const q = this.length[j], range = high - low, slope = this.slope[j], bend = Math.abs(this.bend[j]), twist = Math.abs(this.twist[j]);
        width = Math.sqrt(width);
        const m = Math.max(0, ...eigenvalues(M, D)), c = Math.max(...eigenvalues(C, D).map(Math.abs));
        const y1 = norm(this.z1, j * K, K), y2 = arrow(q * m, q ** 2 * c);
        const y3 = (2 / Math.sqrt(3) * q ** 2 * width + FOUR * q ** 3 * range * width) * m;
        each.value += this.h[j] ** 2;
        each.gradient += (slope * y1) ** 2;
        each.hessian += (bend * y1 ** 2 + slope * y2) ** 2;
        each.third += (twist * y1 ** 3 + 3 * bend * y1 * y2 + slope * y3) ** 2;
        RADII.forEach((radius, k) => {
          const x = width * q * radius, grown = Math.exp(x) * m, surplus = Math.expm1(x) * m, turned = width > 0 ? surplus / width : 0;
          const d1 = Math.hypot(turned, q * (grown * radius + range * turned));
          const d2 = arrow(q * surplus, q ** 2 * (grown * width * radius + FOUR * range * surplus));
          const d3 = 2 / Math.sqrt(3) * FOUR * q ** 2 * width * surplus
            + q ** 3 * (FIVE * range * width * surplus + FOUR * width ** 2 * radius * grown);
          const z1 = y1 + d1, z2 = y2 + d2, z3 = y3 + d3, moved = z1 * radius;
          growth[k] += (FOURTH * moved * z1 ** 3 + twist * (z1 ** 3 - y1 ** 3) + 3 * THIRD * moved * z1 * z2
            + 3 * bend * (z1 * z2 - y1 * y2) + SECOND * moved * z3 + slope * d3) ** 2;
        });
      }
      for (const name in each) each[name] = Math.sqrt(each[name] / n);
      return { ...each, growth: growth.map((sum) => Math.sqrt(sum / n)), operator: Math.sqrt(Math.max(0, ...eigenvalues(gram, n)) / n) };
    }

    /** Sizes (root mean squares over the data) of derivatives along α and β, and Σ_j u_j (c ∇²h[α] + γ ∇h), added to ``pull``. */
    along(alpha, beta, at, u, c, gamma, pull) {
      const { n, T } = this, e = zeros(K), b = zeros(K), second = zeros(K), h2 = zeros(K), of = zeros(D), ofU = zeros(D), Mw = zeros(D);
      const [su, sw, bu, bw, mix] = Array.from({ length: 5 }, () => zeros(T));
      const size = { gA: 0, hA: 0, hAA: 0, hAB: 0, gB: 0, hB: 0, tAA: 0, tA: 0 };
      /** ∇z[e] and ∇²z[e] (into ``second``). */
      const bent = (j, e, su, sw) => {
        const q = this.length[j];
        this.centred(e, 0, j, su, 0);
        this.centred(e, D, j, sw, 0);
        this.covariance(j, sw, 0, Mw, 0);
        for (let t = 0; t < T; t++) mix[t] = q * su[t] + q * q * this.scores[j * T + t] * sw[t];
        this.covariance(j, mix, 0, of, 0);
        for (let a = 0; a < D; a++) { second[a] = q * Mw[a]; second[D + a] = of[a]; }
        return dot(this.z1, j * K, e, 0, K);
      };
      for (let j = 0; j < n; j++) {
        const q = this.length[j], slope = this.slope[j], bend = this.bend[j], twist = this.twist[j], z1 = j * K;
        this.seen(beta, at, j, b);
        this.seen(alpha, at, j, e);
        const firstB = bent(j, b, bu, bw);
        let square = 0;
        for (let a = 0; a < K; a++) square += (bend * firstB * this.z1[z1 + a] + slope * second[a]) ** 2;
        size.gB += (slope * firstB) ** 2;
        size.hB += square;
        const first = bent(j, e, su, sw), quadratic = dot(second, 0, e, 0, K);
        for (let a = 0; a < K; a++) h2[a] = bend * first * this.z1[z1 + a] + slope * second[a];
        this.add(u[j] * c, h2, 0, j, pull, 0);
        this.add(u[j] * gamma, this.slopes, z1, j, pull, 0);
        size.gA += (slope * first) ** 2;
        size.hA += dot(h2, 0, h2, 0, K);
        size.hAA += dot(h2, 0, e, 0, K) ** 2;
        size.hAB += dot(h2, 0, b, 0, K) ** 2;
        /* κ₄(U, w, w, ·) = E[s_U s_w² Y] − E[s_w²] MU − 2 E[s_U s_w] Mw */
        let square2 = 0, product = 0, total = 0, cubic = 0;
        for (let t = 0; t < T; t++) {
          const weight = this.alpha[j * T + t], score = this.scores[j * T + t];
          square2 += weight * sw[t] ** 2;
          product += weight * score * sw[t];
          mix[t] = 2 * q * q * su[t] * sw[t] + q ** 3 * score * sw[t] ** 2;
          bu[t] = q * q * sw[t] ** 2;
        }
        this.covariance(j, mix, 0, of, 0);
        this.covariance(j, bu, 0, ofU, 0);
        for (let a = 0; a < K; a++) {
          const third = a < D ? ofU[a] : of[a - D] - q ** 3 * (square2 * this.MU[j * D + a - D] + 2 * product * Mw[a - D]);
          const h3 = (twist * first ** 2 + bend * quadratic) * this.z1[z1 + a] + 2 * bend * first * second[a] + slope * third;
          total += h3 * h3;
          cubic += h3 * e[a];
        }
        size.tAA += total;
        size.tA += cubic * cubic;
      }
      for (const name in size) size[name] = Math.sqrt(size[name] / n);
      return size;
    }
  }

  /* ---- The real run ---- */

  /** The loss at heads (c, θ), which then make a step (Lemma 1). */
  function descend({ X, y }, T, eta, c, theta) {
    const n = y.length, scale = 1 / Math.sqrt(c.length), heads = Array.from(c, (_, i) => new Head(X, n, T, theta, i * P));
    const r = y.map((label, j) => scale * heads.reduce((sum, head, i) => sum + c[i] * head.h[j], 0) - label);
    heads.forEach((head, i) => {
      const readout = c[i];
      for (let j = 0; j < n; j++) {
        const pull = -2 * eta * scale / n * r[j];
        c[i] += pull * head.h[j];
        head.add(pull * readout, head.slopes, j * K, j, theta, i * P);
      }
    });
    return dot(r, 0, r, 0, n) / n;
  }

  /* ---- Run, linear run and Theorem F, step by step ---- */

  class Run {
    /** settings: m heads (even), n inputs, T tokens, eta, size (root mean square of the labels), seed. */
    constructor(settings) {
      const data = drawn(settings), { m, n, T, eta } = settings, N = m / 2;
      Object.assign(this, { settings, data, m, n, T, N, eta, s: 0, unit: 2 * eta / Math.sqrt(m), exploded: false });
      this.c = zeros(m); this.theta = zeros(m * P);
      for (let p = 0; p < N; p++) { this.c[p] = data.c[p]; this.c[N + p] = -data.c[p]; }
      this.theta.set(data.theta); this.theta.set(data.theta, N * P);
      const G0 = zeros(n * n);
      this.heads = []; this.facts = [];
      for (let p = 0; p < N; p++) {
        const head = new Head(data.X, n, T, data.theta, p * P), gram = zeros(n * n);
        for (let j = 0; j < n; j++) for (let k = 0; k <= j; k++) {
          gram[j * n + k] = gram[k * n + j] = head.product(j, head, k);
          G0[j * n + k] += 2 / m / n * (gram[j * n + k] + head.h[j] * head.h[k]);
          G0[k * n + j] = G0[j * n + k];
        }
        this.heads.push(head);
        this.facts.push(head.sizes(gram));
      }
      this.G0 = G0;
      this.lambda = eigenvalues(G0.slice(), n).map((value) => Math.max(0, value));
      this.largest = Math.max(...this.lambda);
      this.powers = zeros(n).fill(1);
      this.u = data.y.map((value) => -value);
      this.trivial = dot(data.y, 0, data.y, 0, n) / n;
      this.alpha = zeros(N * P); this.beta = zeros(N * P); this.gamma = zeros(N); this.chi = zeros(N);
      this.allowed = Array.from({ length: N }, () => ({ alpha: 0, beta: 0, gamma: 0, chi: 0 }));
      this.smooth = []; this.rough = []; this.past = []; this.open = [];
    }

    /** What is true before step s; then the step is made. */
    step() {
      const { n, s, eta } = this, mu = norm(this.u, 0, n) / Math.sqrt(n);
      const loss = descend(this.data, this.T, eta, this.c, this.theta);
      const found = this.exploded ? { E: Infinity } : this.certify(mu);
      this.exploded ||= !Number.isFinite(found.E);
      const row = { s, loss, mu, trivial: this.trivial, step: eta * this.largest, ...found, E: this.exploded ? Infinity : found.E };
      const u = this.u;
      this.u = u.map((value, j) => value - 2 * eta * dot(this.G0, j * n, u, 0, n));
      this.s++;
      return row;
    }

    /** E_s, and the recursion's allowances for the next step. */
    certify(mu) {
      const { eta, m, N, n, unit, u, lambda, powers } = this;
      let smooth = 0, rough = 0;
      lambda.forEach((value, j) => {
        smooth = Math.max(smooth, 2 * eta * value * powers[j]);
        rough = Math.max(rough, Math.sqrt(value) * powers[j]);
        powers[j] *= Math.abs(1 - 2 * eta * value);
      });
      this.smooth.push(smooth); this.rough.push(rough);
      const pull = zeros(P), pairs = [], alone = [], next = { alpha: this.alpha.slice(), beta: this.beta.slice(), gamma: this.gamma.slice(), chi: this.chi.slice() };
      let reach = 0, farthest = 0;
      for (let p = 0; p < N; p++) {
        const head = this.heads[p], k = this.facts[p], D_ = this.allowed[p], at = p * P, c = this.data.c[p];
        pull.fill(0);
        const size = head.along(this.alpha, this.beta, at, u, c, this.gamma[p], pull);
        const move = { known: norm(this.alpha, at, P), gamma: Math.abs(this.gamma[p]) + D_.gamma, chi: Math.abs(this.chi[p]) + D_.chi };
        move.alpha = move.known + D_.alpha;
        move.beta = norm(this.beta, at, P) + D_.beta;
        farthest = Math.max(farthest, move.alpha + move.beta);
        reach = Math.max(reach, move.alpha + move.beta, move.gamma + move.chi);
        pairs.push({ k, D_, move, size, e: errors(k, D_, move, size) });
        const path = { known: move.known, alpha: move.known, beta: move.beta - D_.beta, gamma: move.gamma - D_.gamma, chi: move.chi - D_.chi };
        alone.push({ k, move: path, e: errors(k, NOTHING, path, size) });
        /* The known path's next step: α, γ to first order, β, χ to second. */
        const before = next.alpha.slice(at, at + P);
        for (let j = 0; j < n; j++) {
          head.add(-unit * c * u[j] / n, head.slopes, j * K, j, next.alpha, at);
          next.gamma[p] -= unit * u[j] * head.h[j] / n;
        }
        for (let a = 0; a < P; a++) {
          next.chi[p] += c * (next.alpha[at + a] - before[a]) * before[a];
          next.beta[at + a] -= unit * pull[a] / n;
        }
      }
      Object.assign(this, next);
      const E = this.distance(pairs, this.past, (E) => mu + E), rho = mu + E;
      for (const { k, D_, move, e } of pairs) {
        const together = E * (e.hessian + move.gamma * k.operator) + mu * (k.hessian * D_.alpha + k.operator * D_.gamma)
          + rho * (move.chi * e.turned + e.bend + move.gamma * e.slope);
        const slopes = offSlope(k, move, e);
        D_.chi += unit * (E * e.apart + mu * k.operator * D_.alpha + rho * e.odd);
        D_.gamma += unit * (E * k.value + rho * e.even);
        D_.beta += unit * together;
        D_.alpha += unit * (E * k.operator + rho * slopes);
      }
      return {
        E, path: this.distance(alone, this.open, () => mu), table: farthest / RADII[RADII.length - 1], reach: Math.sqrt(m) * reach / 3,
      };
    }

    /** E_s from the pairs' errors now and those before, which are kept in ``past``; ``rho`` bounds the root loss. */
    distance(pairs, past, rho) {
      const { eta, m, s, smooth, rough } = this;
      const remainder = Math.sqrt(m) * mean(pairs.map(({ move, e }) => e.odd + move.gamma * e.even + move.chi * (e.apart + e.odd)));
      const width = Math.sqrt(mean(pairs.map(({ k, move, e }) => e.even ** 2 + offSlope(k, move, e) ** 2)));
      const E = past.reduce((sum, then, i) => sum + smooth[s - 1 - i] * then.remainder + 2 * eta * rough[s - 1 - i] * then.leak, remainder);
      past.push({ remainder, leak: width * rho(E) });
      return E;
    }
  }

  /** What the slopes of a pair are off by. */
  const offSlope = (k, move, e) => e.slope + move.chi * (k.gradient + e.slope) + move.gamma * e.turned;

  /** Root mean squares of what Taylor's formula at the start misses for a pair that moves within its bounds (theorem_f.Errors). */
  function errors(k, { alpha: off, beta: aside }, { alpha, beta, known }, size) {
    const apart = size.gA + k.gradient * off, hessian = size.hA + k.hessian * off;
    const together = size.gB + k.gradient * aside, hessianB = size.hB + k.hessian * aside;
    const twice = size.hAA + (2 * size.hA + k.hessian * off) * off, mixed = size.hAB + size.hA * aside + hessianB * off;
    const third = size.tAA + k.third * off * (2 * known + off);
    const cubic = size.tA + 3 * size.tAA * off + k.third * off ** 2 * (3 * known + off);
    const place = RADII.findIndex((radius) => radius >= alpha + beta), growth = place < 0 ? Infinity : k.growth[place];
    const large = Math.max(alpha, beta), small = Math.min(alpha, beta);
    const ofValue = growth / 24 * large * (large ** 2 + 3 * small ** 2), ofSlope = growth / 6 * (alpha ** 2 + beta ** 2);
    const bend = k.third * alpha * beta + ofSlope;
    return {
      odd: mixed + cubic / 6 + k.third * alpha * beta ** 2 / 2 + ofValue,
      even: together + (twice + hessianB * beta + third * beta) / 2 + k.third * beta ** 3 / 6 + ofValue,
      slope: hessianB + (third + k.third * beta ** 2) / 2 + ofSlope,
      bend, apart, turned: hessian + bend, hessian,
    };
  }

  /** Theorem 1's bound as printed, for d = 8, ρ = ν̄ = 3 in all blocks and δ = 0.05 (closed_forms.paper): what it allows after so many steps. */
  function printed({ m, n, eta, steps }) {
    const delta = 0.05 / 2, three = 3, root = Math.sqrt(m), r = Math.hypot(three, three), total = Math.sqrt(3) * three;
    const B = Math.sqrt(D) + Math.sqrt(2 * Math.log(m / (2 * delta))) + three / root;
    const L1 = Math.sqrt(1 + B * B), L2 = SECOND * (1 + B * B) + 8 * L1;
    const F = L1 * r + three + three + three + Math.sqrt(D) * three, A = 1 + (1 + three / root) * L1;
    const app = 2 * 3 * three * Math.sqrt(2 * Math.log(2 * n / delta) / m), lin = (L1 * three * r + L2 * r * r) / root;
    const cof = (L2 * r + three * L1 + L1 * r) * 2 * total / root;
    return total ** 2 / (4 * eta * steps) + eta * (F * A) ** 2 + F * (app + lin + cof);
  }

  return { Run, drawn, gaussians, eigenvalues, printed, RADII };
}
