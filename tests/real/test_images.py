"""Pictures: those that ship, and those of the reader's file."""

import hashlib

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from checks import refused
from shallowformer.real import images

X = np.arange(4 * 9, dtype=np.uint8).reshape(4, 3, 3)
Y = np.array([0, 1, 0, 1])


@pytest.fixture
def file(tmp_path):
    def write(**arrays):
        np.savez(tmp_path / "mnist.npz", **arrays)
        return tmp_path / "mnist.npz"

    return write


def test_shipped_digits_are_those_of_scikit_learn():
    shown, found = images.digits(), load_digits()
    assert torch.equal(shown.values, torch.from_numpy(found.data / 16))
    assert shown.labels.tolist() == found.target.tolist()
    assert shown.source == images.DIGITS


@pytest.mark.parametrize("names", images.NAMES)
def test_a_file_of_pictures(file, names):
    path = file(**dict(zip(names, (X, Y.astype(np.uint8)), strict=True)))
    shown = images.read(str(path))
    assert torch.equal(shown.values, torch.arange(36.0).reshape(4, 9).double() / 35)
    assert shown.labels.tolist() == [0, 1, 0, 1]
    assert shown.source.file == "mnist.npz"
    assert shown.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("x", "y", "given", "allowed"),
    [
        (X[:0], Y[:0], "(0, 3, 3)", "at least one"),
        (X[:, 0, 0], Y, "(4,)", "a row each"),
        (X.astype(str), Y, "<U", "numbers"),
        (np.where(X == 5, np.nan, X), Y, "nan", "finite"),
        (X - 1.0, Y, "-1.0", "at least 0"),
        (0 * X, Y, "0.0 to 0.0", "not all 0"),
        (X, Y[:3], "(3,)", "one whole number a picture (4)"),
        (X, Y[:, None], "(4, 1)", "one whole number a picture"),
        (X, Y + 0.5, "float64", "whole number"),
    ],
)
def test_what_shows_nothing_is_refused(file, x, y, given, allowed):
    refused("path", given, allowed, images.read, file(x=x, y=y))


def test_other_files_are_refused(file, tmp_path):
    refused("path", "['a']", "x_train and y_train", images.read, file(a=X))
    np.save(tmp_path / "mnist.npy", X)
    refused("path", "mnist.npy", "a .npz file", images.read, tmp_path / "mnist.npy")
