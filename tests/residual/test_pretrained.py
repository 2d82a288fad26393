"""A tiny GPT-2 written to a file here, its blocks against torch's own layer, a loop by hand, and closed forms."""

import math

import pytest
import torch
from safetensors.torch import save_file

from checks import refused, unchecked
from companion.theory.residual import pretrained

V, D, T, HEADS, L = 11, 8, 6, 2, 3


def weights(dtype=torch.float64, before="", seed=0):
    """Names and shapes as in the published checkpoints, the buffer of the causal mask included."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: (0.4 * torch.randn(*shape, generator=generator, dtype=torch.float64)).to(dtype)
    found = {
        "wte.weight": draw(V, D),
        "wpe.weight": draw(T, D),
        "ln_f.weight": draw(D) + 1,
        "ln_f.bias": draw(D),
    }
    for l in range(L):
        for name, shape in (("ln_1", None), ("attn.c_attn", (D, 3 * D)), ("attn.c_proj", (D, D)), ("ln_2", None), ("mlp.c_fc", (D, 4 * D)), ("mlp.c_proj", (4 * D, D))):  # fmt: skip
            found[f"h.{l}.{name}.weight"] = draw(D) + 1 if shape is None else draw(*shape)
            found[f"h.{l}.{name}.bias"] = draw(D if shape is None else shape[1])
        found[f"h.{l}.attn.bias"] = torch.ones(1, 1, T, T, dtype=dtype).tril()
    return {before + name: value for name, value in found.items()}


@pytest.fixture
def path(tmp_path):
    save_file(weights(), tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def ids(n=4, length=T, seed=1):
    return torch.randint(V, (n, length), generator=torch.Generator().manual_seed(seed))


def by_torch(there, x, layers):
    """Torch's pre-norm layer, whose residuals cannot be scaled."""
    h = there["wte.weight"][x] + there["wpe.weight"][: x.shape[1]]
    for l in range(layers):
        part = lambda name, l=l: there[f"h.{l}.{name}"]
        layer = torch.nn.TransformerEncoderLayer(
            D, HEADS, 4 * D, dropout=0.0, activation=lambda v: torch.nn.functional.gelu(v, approximate="tanh"),
            batch_first=True, norm_first=True, dtype=torch.float64,
        )  # fmt: skip
        layer.load_state_dict({
            "self_attn.in_proj_weight": part("attn.c_attn.weight").T, "self_attn.in_proj_bias": part("attn.c_attn.bias"),
            "self_attn.out_proj.weight": part("attn.c_proj.weight").T, "self_attn.out_proj.bias": part("attn.c_proj.bias"),
            "linear1.weight": part("mlp.c_fc.weight").T, "linear1.bias": part("mlp.c_fc.bias"),
            "linear2.weight": part("mlp.c_proj.weight").T, "linear2.bias": part("mlp.c_proj.bias"),
            "norm1.weight": part("ln_1.weight"), "norm1.bias": part("ln_1.bias"),
            "norm2.weight": part("ln_2.weight"), "norm2.bias": part("ln_2.bias"),
        })  # fmt: skip
        ahead = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        h = layer(h, src_mask=ahead).detach()
    return h


def by_hand(there, x, layers, g):
    """One row at a time, one head and token at a time."""
    norm = lambda h, w, b: (h - h.mean()) / (h.var(correction=0) + 1e-5).sqrt() * w + b
    gelu = lambda v: 0.5 * v * (1 + torch.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))
    out = []
    for row in x:
        h = torch.stack([there["wte.weight"][t] + there["wpe.weight"][i] for i, t in enumerate(row)])
        for l in range(layers):
            part = lambda name, l=l: there[f"h.{l}.{name}"]
            qkv = torch.stack([
                norm(token, part("ln_1.weight"), part("ln_1.bias")) @ part("attn.c_attn.weight") + part("attn.c_attn.bias") for token in h
            ])  # fmt: skip
            size, new = D // HEADS, []
            for i in range(len(row)):
                seen = torch.zeros(D, dtype=torch.float64)
                for head in range(HEADS):
                    here = slice(head * size, (head + 1) * size)
                    q, k, v = (qkv[:, j * D : (j + 1) * D][:, here] for j in range(3))
                    logits = torch.stack([q[i] @ k[j] / math.sqrt(size) for j in range(i + 1)])
                    weight = logits.exp() / logits.exp().sum()
                    seen[here] = sum(weight[j] * v[j] for j in range(i + 1))
                token = g * h[i] + seen @ part("attn.c_proj.weight") + part("attn.c_proj.bias")
                inner = gelu(
                    norm(token, part("ln_2.weight"), part("ln_2.bias")) @ part("mlp.c_fc.weight")
                    + part("mlp.c_fc.bias")
                )
                new.append(g * token + inner @ part("mlp.c_proj.weight") + part("mlp.c_proj.bias"))
            h = torch.stack(new)
        out.append(h)
    return torch.stack(out)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_blocks_are_those_of_torch(path, layers):
    model = pretrained.load(path, layers, HEADS, torch.float64)
    assert len(model.blocks) == layers
    for x in (ids(), ids(2, 1), ids(3, 4)):
        expected = by_torch(weights(), x, layers)
        assert torch.allclose(pretrained.stream(model, x), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("g", [0.0, 0.5, 1.0, 2.0])
def test_the_coefficient_is_on_both_skip_connections(path, g):
    model = pretrained.load(path, 2, HEADS, torch.float64)
    found = pretrained.stream(model, ids(2), g)
    assert torch.allclose(found, by_hand(weights(), ids(2), 2, g), rtol=1e-10, atol=1e-10)


def test_names_with_a_prefix_and_the_kind_of_numbers(tmp_path, path):
    save_file(weights(torch.float16, "transformer."), tmp_path / "half.safetensors")
    half = pretrained.load(tmp_path / "half.safetensors", 3, HEADS)
    assert half.tokens.dtype == torch.float32
    full = pretrained.load(str(path), 3, HEADS)
    assert torch.allclose(pretrained.stream(half, ids()), pretrained.stream(full, ids()), atol=0.05)


def test_heads_follow_from_the_width_as_in_every_gpt_2(tmp_path, path):
    assert pretrained.load(path, 1).heads == 1
    assert 768 // pretrained.HEAD == 12
    assert 1600 // pretrained.HEAD == 25


def test_features_are_of_the_last_token_and_do_not_see_what_fills_up(path):
    model = pretrained.load(path, 2, HEADS, torch.float64)
    x, mask = ids(5), torch.ones(5, T, dtype=torch.long)
    mask[1, 3:] = 0
    mask[4, 1:] = 0
    found = pretrained.features(model, x, mask, 0.7, size=2)
    for row, length in ((0, 6), (1, 3), (4, 1)):
        alone = pretrained.stream(model, x[[row], :length], 0.7)[0, -1]
        expected = torch.nn.functional.layer_norm(alone, (D,), *model.norm, eps=1e-5)
        assert torch.allclose(found[row], expected, atol=1e-12)
    other = x.clone()
    other[mask == 0] = (other[mask == 0] + 1) % V
    assert torch.allclose(pretrained.features(model, other, mask, 0.7), found, atol=1e-12)


def test_descent_on_the_head_is_that_of_torch_and_never_rises():
    generator = torch.Generator().manual_seed(0)
    F = torch.randn(30, 5, generator=generator, dtype=torch.float64)
    labels = torch.randint(3, (30,), generator=generator)
    losses, wrong = pretrained.train_head(F, labels, 3, 40)
    assert len(losses) == len(wrong) == 41
    assert float(losses[0]) == pytest.approx(math.log(3))
    assert bool((losses[1:] <= losses[:-1]).all())
    tilde = torch.cat([F, torch.ones(30, 1, dtype=torch.float64)], 1)
    eta = 2 / float(torch.linalg.eigvalsh(tilde.T @ tilde / 30)[-1])
    W = torch.zeros(6, 3, dtype=torch.float64, requires_grad=True)
    for step in range(40):
        loss = torch.nn.functional.cross_entropy(tilde @ W, labels)
        assert float(losses[step]) == pytest.approx(float(loss.detach()), rel=1e-12)
        (slope,) = torch.autograd.grad(loss, W)
        W = (W - eta * slope).detach().requires_grad_()
    assert float(wrong[-1]) == pytest.approx(float(((tilde @ W).argmax(1) != labels).double().mean()))


def test_what_cannot_be_read_or_run_is_refused(tmp_path, path):
    refused("L", "4", "at most 3", pretrained.load, path, 4, HEADS)
    refused("heads", "3", "divide the width 8", pretrained.load, path, 1, 3)
    save_file({"embedding": torch.ones(2)}, tmp_path / "other.safetensors")
    refused("L", "1", "at most 0", pretrained.load, tmp_path / "other.safetensors", 1)
    lacking = {name: value for name, value in weights().items() if name != "h.1.mlp.c_fc.bias"}
    save_file(lacking, tmp_path / "lacking.safetensors")
    with refused("path", "other tensors", "h.1.mlp.c_fc.bias"):
        pretrained.load(tmp_path / "lacking.safetensors", 2, HEADS)
    model = pretrained.load(path, 1, HEADS, torch.float64)
    refused("ids", "(1, 2)", "from 0 to 10", pretrained.stream, model, torch.tensor([[0, V]]))
    refused("ids", "7", "at most 6", pretrained.stream, model, ids(1, 7))
    for mask in ([[0, 1]], [[1, 2]], [[0, 0]]):
        with refused("mask", "another order", "ones and then zeros"):
            pretrained.features(model, ids(1, 2), torch.tensor(mask))
    with pytest.raises(ValueError, match="labels must be"), unchecked():
        pretrained.train_head(torch.ones(2, 3), torch.tensor([0, 2]), 2, 1)
