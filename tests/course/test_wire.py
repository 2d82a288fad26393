"""Data passes and arrives as it was; what is no data arrives as nothing that helps; nonsense is refused."""

import json
import math
import socket
import struct

import numpy as np
import pytest
import torch

from bookext.course import wire


def there(value, **how):
    """What arrives of a value; JSON in between."""
    return wire.unpack(json.loads(json.dumps(wire.pack(value, **how))))


@pytest.mark.parametrize("value", [None, True, 3, -(10**40), 0.1, 1e-320, "ÿ\n", "", [], [1, [2.5, None]], (), (1, (2,)), {1, 2}, {"a": [1], (1, 2): None}, 1 + 2j, ...,
                                   np.float32(0.1), np.int64(3)], ids=repr)  # fmt: skip
def test_plain_values_arrive(value):
    arrived = there(value)
    assert arrived == value
    assert type(arrived) is type(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, -0.0])
def test_floats_at_the_edge_arrive(value):
    assert math.copysign(1, there(value)) == math.copysign(1, value)
    assert there(value) == value
    assert math.isnan(there(math.nan))


@pytest.mark.parametrize("dtype", wire.TENSORS.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_tensors_arrive_with_dtype_and_shape(dtype, shape):
    value = (torch.rand(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 9).to(dtype)
    arrived = there(value)
    assert arrived.dtype == dtype
    assert arrived.shape == value.shape
    assert torch.equal(arrived, value)


def test_tensors_that_are_views_arrive():
    value = torch.arange(12.0).reshape(3, 4).T[::2]
    assert torch.equal(there(value), value)
    assert torch.equal(there(torch.tensor([1 + 2j]).conj()), torch.tensor([1 - 2j]))


def test_whether_a_tensor_records_arrives():
    assert there(torch.ones(2, requires_grad=True)).requires_grad
    assert not there(torch.ones(2)).requires_grad
    with torch.inference_mode():
        assert there(torch.ones(2)).is_inference()


def test_arrays_and_generators_arrive():
    array = np.arange(6, dtype=">i2").reshape(2, 3)[:, ::-1]
    assert np.array_equal(there(array), array)
    generator = torch.Generator().manual_seed(5)
    assert torch.equal(torch.rand(3, generator=there(generator)), torch.rand(3, generator=generator))


class Liar(float):
    def __eq__(self, other):
        return True

    __hash__ = None


def test_a_number_of_an_own_class_is_a_number():
    assert type(there(Liar(3))) is float
    assert there(Liar(3)) != 4


class Everything:
    def __eq__(self, other):
        return True

    __hash__ = None

    @property
    def __class__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "make", [Everything, object, lambda: np.array([object()]), lambda: np.array(["text"])]
)
def test_what_is_no_data_arrives_as_nothing_that_helps(make):
    arrived = there(make(), keep=id)
    assert isinstance(arrived, wire.Odd)
    assert arrived != 1
    assert arrived != there(make(), keep=id)
    with pytest.raises(TypeError):
        float(arrived)


def test_a_test_can_hand_over_data_only():
    with pytest.raises(TypeError, match="numbers, text, lists, tensors and arrays, not object"):
        wire.pack(object())
    with pytest.raises(TypeError):
        wire.pack([lambda: 1])


def test_a_list_in_itself_ends():
    value = []
    value.append(value)
    there(value, keep=id)


@pytest.mark.parametrize("packed", [{}, {"!": "exec"}, {"!": "array", "dtype": "O", "shape": [1], "bytes": "AAAAAAAAAAA="}, {"!": "array", "dtype": "<f8", "shape": [10**12], "bytes": ""},
                                    {"!": "array", "dtype": "<f8", "shape": [-1], "bytes": "AAAAAAAAAAA="}, {"!": "tensor", "dtype": "float64", "shape": [2], "bytes": "AAAAAAAAAAA=", "flags": [0, 0]},
                                    {"!": "tensor", "dtype": "save", "shape": [], "bytes": "", "flags": [0, 0]}, {"!": "function", "number": 1}, {"!": "int", "hex": []}, {"!": "dict", "items": [[[], 1]]},
                                    {"!": "generator", "state": 3}, {"!": "array", "dtype": "<f8", "shape": [1], "bytes": "no base"}], ids=str)  # fmt: skip
def test_nonsense_is_refused(packed):
    with pytest.raises(wire.Malformed):
        wire.unpack(packed)


def test_depth_is_bounded():
    packed = []
    for _ in range(100):
        packed = [packed]
    with pytest.raises(wire.Malformed):
        wire.unpack(packed)


@pytest.mark.parametrize("raw", [struct.pack(">Q", 2**60), struct.pack(">Q", 3) + b"[1]", struct.pack(">Q", 2) + b"\xff\xff", struct.pack(">Q", 10**5) + b"[" * 10**5])  # fmt: skip
def test_messages_of_nonsense_are_refused(raw):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(raw)
        with pytest.raises(wire.Malformed):
            wire.receive(ours, 5)


def test_silence_and_absence_are_told_apart():
    ours, theirs = socket.socketpair()
    with ours:
        with pytest.raises(TimeoutError):
            wire.receive(ours, 0.05)
        theirs.close()
        with pytest.raises(ConnectionError):
            wire.receive(ours, 5)
