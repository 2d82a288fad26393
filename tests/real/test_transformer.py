"""Tiny networks written to files here, their blocks against torch's own layers and against a loop by hand, and the encoder that pip installs."""

import math
import sys

import pytest
import torch
from safetensors.torch import save_file

from checks import refused
from shallowformer.real import transformer

V, D, T, HEADS, L = 11, 8, 6, 2, 3


def drawing(dtype, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: (0.4 * torch.randn(*shape, generator=generator, dtype=torch.float64)).to(dtype)


def gpt2(dtype=torch.float64, before=""):
    """Names and shapes as in the published checkpoints, the buffer of the causal mask included."""
    draw = drawing(dtype)
    found = {
        "wte.weight": draw(V, D),
        "wpe.weight": draw(T, D),
        "ln_f.weight": draw(D) + 1,
        "ln_f.bias": draw(D),
    }
    shapes = {
        "attn.c_attn": (D, 3 * D),
        "attn.c_proj": (D, D),
        "mlp.c_fc": (D, 4 * D),
        "mlp.c_proj": (4 * D, D),
    }
    for l in range(L):
        for name, shape in shapes.items():
            found |= {f"h.{l}.{name}.weight": draw(*shape), f"h.{l}.{name}.bias": draw(shape[1])}
        for name in ("ln_1", "ln_2"):
            found |= {f"h.{l}.{name}.weight": draw(D) + 1, f"h.{l}.{name}.bias": draw(D)}
        found[f"h.{l}.attn.bias"] = torch.ones(1, 1, T, T, dtype=dtype).tril()
    return {before + name: value for name, value in found.items()}


def bert(dtype=torch.float64, before="", norm=("weight", "bias")):
    """Names and shapes as in the published checkpoints; matrices map columns."""
    draw = drawing(dtype, 1)
    found = {
        "embeddings.word_embeddings.weight": draw(V, D),
        "embeddings.position_embeddings.weight": draw(T, D),
        "embeddings.token_type_embeddings.weight": draw(2, D),
        "pooler.dense.weight": draw(D, D),
    }
    shapes = {f"attention.self.{name}": (D, D) for name in ("query", "key", "value")}
    shapes |= {"attention.output.dense": (D, D), "intermediate.dense": (4 * D, D), "output.dense": (D, 4 * D)}
    norms = ["embeddings.LayerNorm"]
    for l in range(L):
        for name, shape in shapes.items():
            found |= {f"encoder.layer.{l}.{name}.weight": draw(*shape), f"encoder.layer.{l}.{name}.bias": draw(shape[0])}  # fmt: skip
        norms += [f"encoder.layer.{l}.{part}.LayerNorm" for part in ("attention.output", "output")]
    for name in norms:
        found |= {f"{name}.{norm[0]}": draw(D) + 1, f"{name}.{norm[1]}": draw(D)}
    return {before + name: value for name, value in found.items()}


MADE = {"gpt2": gpt2, "bert": bert}


@pytest.fixture(params=MADE)
def kind(request):
    return request.param


def saved(folder, weights):
    save_file(weights, folder / "model.safetensors")
    return folder / "model.safetensors"


def model(folder, kind, dtype=torch.float64):
    return transformer.load(saved(folder, MADE[kind]()), HEADS, dtype)


def ids(n=4, length=T, seed=1):
    return torch.randint(V, (n, length), generator=torch.Generator().manual_seed(seed))


def all_of(x):
    return torch.ones(x.shape, dtype=torch.bool)


def by_torch(kind, x, mask):
    """States behind the embeddings and every block, by torch's layers, whose residuals cannot be scaled."""
    there, first = MADE[kind](), kind == "gpt2"
    if first:
        h = there["wte.weight"][x] + there["wpe.weight"][: x.shape[1]]
    else:
        name = lambda part: there[f"embeddings.{part}_embeddings.weight"]
        h = name("word")[x] + name("position")[: x.shape[1]] + name("token_type")[torch.zeros_like(x)]
        weight, bias = (there[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias"))
        h = torch.nn.functional.layer_norm(h, (D,), weight, bias, eps=1e-12)
    states = [h]
    for l in range(L):
        activation = (lambda v: torch.nn.functional.gelu(v, approximate="tanh")) if first else "gelu"
        layer = torch.nn.TransformerEncoderLayer(
            D, HEADS, 4 * D, dropout=0.0, activation=activation, batch_first=True, norm_first=first,
            layer_norm_eps=1e-5 if first else 1e-12, dtype=torch.float64,
        )  # fmt: skip
        if first:
            part = lambda name, l=l: there[f"h.{l}.{name}"]
            state = {"self_attn.in_proj_weight": part("attn.c_attn.weight").T, "self_attn.in_proj_bias": part("attn.c_attn.bias")}  # fmt: skip
            rest = {"self_attn.out_proj": "attn.c_proj", "linear1": "mlp.c_fc", "linear2": "mlp.c_proj", "norm1": "ln_1", "norm2": "ln_2"}  # fmt: skip
        else:
            part = lambda name, l=l: there[f"encoder.layer.{l}.{name}"]
            three = [f"attention.self.{name}" for name in ("query", "key", "value")]
            state = {f"self_attn.in_proj_{end}": torch.cat([part(f"{name}.{end}") for name in three]) for end in ("weight", "bias")}  # fmt: skip
            rest = {
                "self_attn.out_proj": "attention.output.dense", "linear1": "intermediate.dense", "linear2": "output.dense",
                "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
            }  # fmt: skip
        for theirs, ours in rest.items():
            weight = part(f"{ours}.weight")
            state |= {
                f"{theirs}.weight": weight.mT if first and weight.ndim == 2 else weight,
                f"{theirs}.bias": part(f"{ours}.bias"),
            }
        layer.load_state_dict(state)
        ahead = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if first else None
        # In training mode torch takes no fused route, which would set padded places to 0.
        h = layer.train()(h, src_mask=ahead, src_key_padding_mask=~mask).detach()
        states.append(h)
    return states


def by_hand(found, row, g):
    """The last states of one sentence, one token and head at a time, from the parts of a network that was read."""
    epsilon = 1e-5 if found.norm_first else 1e-12
    norm = lambda h, pair: (h - h.mean()) / (h.var(correction=0) + epsilon).sqrt() * pair[0] + pair[1]
    if found.norm_first:
        gelu = lambda v: 0.5 * v * (1 + torch.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))
    else:
        gelu = lambda v: v * (1 + torch.erf(v / math.sqrt(2))) / 2
    apply = lambda h, pair: h @ pair[0] + pair[1]
    h = [found.tokens[t] + found.places[i] for i, t in enumerate(row)]
    if not found.norm_first:
        h = [norm(token, found.norm) for token in h]
    size = D // HEADS
    for block in found.blocks:
        into = [norm(token, block.norm) for token in h] if found.norm_first else h
        q, k, v = ([apply(token, pair) for token in into] for pair in (block.query, block.key, block.value))
        new = []
        for i in range(len(row)):
            seen = torch.zeros(D, dtype=torch.float64)
            others = range(i + 1) if found.norm_first else range(len(row))
            for head in range(HEADS):
                here = slice(head * size, (head + 1) * size)
                weights = [math.exp(float(q[i][here] @ k[j][here]) / math.sqrt(size)) for j in others]
                seen[here] = sum(w * v[j][here] for w, j in zip(weights, others, strict=True)) / sum(weights)
            token = g * h[i] + apply(seen, block.out)
            if found.norm_first:
                new.append(
                    g * token + apply(gelu(apply(norm(token, block.second), block.inner)), block.outer)
                )
            else:
                token = norm(token, block.norm)
                new.append(
                    norm(g * token + apply(gelu(apply(token, block.inner)), block.outer), block.second)
                )
        h = new
    return torch.stack(h)


def test_states_are_those_of_torch(tmp_path, kind):
    found = model(tmp_path, kind)
    assert len(found.blocks) == L
    assert found.norm_first == (kind == "gpt2")
    for x in (ids(), ids(2, 1), ids(3, 4)):
        ours, theirs = transformer.stream(found, x, all_of(x)), by_torch(kind, x, all_of(x))
        assert len(ours) == len(theirs) == L + 1
        for a, b in zip(ours, theirs, strict=True):
            assert torch.allclose(a, b, rtol=1e-10, atol=1e-10)


def test_with_padding_too(tmp_path, kind):
    x, mask = transformer.padded([[1, 2, 3, 4, 5], [6], [7, 8, 9]])
    assert x.tolist()[1] == [6, 0, 0, 0, 0]
    assert mask.tolist()[2] == [True, True, True, False, False]
    for a, b in zip(transformer.stream(model(tmp_path, kind), x, mask), by_torch(kind, x, mask), strict=True):
        assert torch.allclose(a[mask], b[mask], rtol=1e-10, atol=1e-10)


def test_what_fills_up_does_not_matter(tmp_path, kind):
    found = model(tmp_path, kind)
    x, mask = transformer.padded([[1, 2, 3, 4, 5], [6, 7]])
    before = transformer.stream(found, x, mask, 0.7)[-1]
    other = torch.where(mask, x, 10)
    assert torch.equal(transformer.stream(found, other, mask, 0.7)[-1][mask], before[mask])
    alone = transformer.stream(found, x[1:, :2], mask[1:, :2], 0.7)[-1][0]
    assert torch.allclose(before[1, :2], alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("g", [0.0, 0.5, 1.0, 2.0])
def test_the_coefficient_is_on_both_skip_connections(tmp_path, kind, g):
    found = model(tmp_path, kind).cut(2)
    x = ids(2)
    ours = transformer.stream(found, x, all_of(x), g)[-1]
    for row, states in zip(x.tolist(), ours, strict=True):
        assert torch.allclose(states, by_hand(found, row, g), rtol=1e-9, atol=1e-9)


def test_only_in_gpt_2_nobody_looks_ahead(tmp_path, kind):
    found, x = model(tmp_path, kind), ids(2)
    other = x.clone()
    other[:, 4:] = (other[:, 4:] + 1) % V
    a, b = (transformer.stream(found, each, all_of(each))[-1][:, :4] for each in (x, other))
    assert torch.equal(a, b) == (kind == "gpt2")


def test_a_network_that_is_cut_leaves_the_first_states(tmp_path, kind):
    found, x = model(tmp_path, kind), ids()
    whole = transformer.stream(found, x, all_of(x))
    for length in range(1, L + 1):
        part = transformer.stream(found.cut(length), x, all_of(x))
        assert len(part) == length + 1
        assert all(torch.equal(a, b) for a, b in zip(part, whole, strict=False))
    for wrong in (0, L + 1):
        refused("L", str(wrong), f"from 1 to {L}", found.cut, wrong)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("gpt2", {"before": "transformer."}),
        ("bert", {"before": "bert."}),
        ("bert", {"norm": ("gamma", "beta")}),
    ],
)
def test_other_names_and_the_kind_of_numbers(tmp_path, kind, more):
    half = transformer.load(saved(tmp_path, MADE[kind](torch.float16, **more)), HEADS)
    assert half.tokens.dtype == torch.float32
    assert len(half.source.sha256) == 64
    x = ids()
    a, b = (transformer.stream(each, x, all_of(x))[-1].double() for each in (half, model(tmp_path, kind)))
    assert torch.allclose(a, b, atol=0.05)


def test_heads_follow_from_the_width_only_in_gpt_2(tmp_path, monkeypatch):
    assert [width // transformer.HEAD for width in (768, 1600)] == [12, 25]
    refused("heads", "None", "width 8, no multiple of 64", transformer.load, saved(tmp_path, gpt2()))
    monkeypatch.setattr(transformer, "HEAD", 4)
    assert transformer.load(saved(tmp_path, gpt2())).heads == 2
    refused(
        "heads", "None", "num_attention_heads of its config.json", transformer.load, saved(tmp_path, bert())
    )


@pytest.mark.parametrize(
    ("lacking", "call"),
    [("safetensors.torch", lambda: transformer.load("nowhere")), ("tokenizers", transformer.minilm)],
)
def test_packages_that_are_missing_give_the_command_to_type(monkeypatch, lacking, call):
    monkeypatch.setitem(sys.modules, lacking, None)
    monkeypatch.setattr(transformer.Source, "read", None)  # nothing is unpacked before
    with pytest.raises(ModuleNotFoundError, match=f"{lacking} is not installed; type: pip install --no-deps tokenizers safetensors$"):  # fmt: skip
        call()


def test_what_cannot_be_read_or_run_is_refused(tmp_path, kind):
    weights = MADE[kind]()
    refused("heads", "3", "divide the width 8", transformer.load, saved(tmp_path, weights), 3)
    (tmp_path / "other.bin").write_bytes(b"no weights")
    refused("path", "other.bin", "a .safetensors file", transformer.load, tmp_path / "other.bin")
    refused(
        "dtype", "torch.int64", "floating-point", transformer.load, tmp_path / "other.bin", 2, torch.int64
    )
    with refused("path", "1 other tensors", "embeddings.LayerNorm.weight"):
        transformer.load(saved(tmp_path, {"embedding": torch.ones(2)}))
    for name in ("h.1.mlp.c_fc.bias", "wpe.weight") if kind == "gpt2" else ("encoder.layer.1.output.dense.bias", "embeddings.position_embeddings.weight"):  # fmt: skip
        lacking = {other: value for other, value in weights.items() if other != name}
        with refused("path", f"{len(lacking)} other tensors", name):
            transformer.load(saved(tmp_path, lacking), HEADS)
    found = model(tmp_path, kind)
    for wrong, told in (([[0, V]], "0 to 11"), ([[-1, 0]], "-1 to 0")):
        x = torch.tensor(wrong)
        refused("ids", told, "from 0 to 10", transformer.stream, found, x, all_of(x))
    for x in (ids(1, 2).double(), ids(1, 2)[0], ids(1, 2)[:, :0]):
        refused("ids", f"{x.dtype} of shape {tuple(x.shape)}", "whole numbers of shape [n, T]", transformer.stream, found, x, all_of(x))  # fmt: skip
    refused("mask", "torch.int64", "torch.bool", transformer.stream, found, ids(1, 2), 1 + 0 * ids(1, 2))
    refused("ids", "7", "at most 6", transformer.stream, found, ids(1, 7), all_of(ids(1, 7)))
    refused("mask", "(1, 1)", "(1, 2)", transformer.stream, found, ids(1, 2), all_of(ids(1, 1)))
    refused(
        "mask",
        "a row without",
        "a token in every row",
        transformer.stream,
        found,
        ids(1, 2),
        ~all_of(ids(1, 2)),
    )
    with pytest.raises(ValueError, match="g must be"):
        transformer.stream(found, ids(1, 2), all_of(ids(1, 2)), -1.0)
    for rows in ([], [[1], []]):
        refused("rows", f"{len(rows)} lists", "at least one id", transformer.padded, rows)


def test_rows_are_cut_to_the_longest_length():
    refused("longest", "-1", "at least 1", transformer.padded, [[1, 2]], -1)
    x, mask = transformer.padded([[1, 2, 3], [4]], 2)
    assert x.tolist() == [[1, 2], [4, 0]]
    assert mask.tolist() == [[True, True], [True, False]]


@pytest.fixture(scope="module")
def encoder():
    return transformer.minilm()


def test_the_encoder_is_the_published_one(encoder):
    """Its card's two sentences: the first entries of their embeddings, mean states of unit norm, and their cosine."""
    found, tokenizer = encoder
    assert (len(found.blocks), found.heads, found.tokens.shape[1], found.norm_first) == (6, 12, 384, False)
    x, mask = transformer.padded([tokenizer.ids(text) for text in ("This is an example sentence", "Each sentence is converted")])  # fmt: skip
    assert x[0].tolist() == [101, 2023, 2003, 2019, 2742, 6251, 102]
    words = tokenizer.words
    assert (len(words), len(set(words))) == (len(found.tokens), len(found.tokens))
    assert [words[token] for token in x[0]] == ["[CLS]", "this", "is", "an", "example", "sentence", "[SEP]"]
    refused("dtype", "torch.int64", "floating-point", transformer.minilm, torch.int64)
    h = transformer.stream(found, x, mask)[-1]
    mean = (h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    mean = mean / mean.norm(dim=1, keepdim=True)
    assert mean[0, :4].tolist() == pytest.approx([0.0677, 0.0635, 0.0487, 0.0793], abs=1e-4)
    assert mean[1, :3].tolist() == pytest.approx([0.0864, 0.1028, 0.0054], abs=1e-4)


def test_it_knows_what_sentences_mean(encoder):
    found, tokenizer = encoder
    texts = ("The film was a delight.", "I loved this movie.", "Water boils at a hundred degrees.")
    x, mask = transformer.padded([tokenizer.ids(text) for text in texts])
    h = transformer.stream(found, x, mask)[-1]
    mean = torch.nn.functional.normalize((h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True), dim=1)
    alike, other, another = (float(mean[i] @ mean[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert alike > 0.5
    assert max(other, another) < 0.2
