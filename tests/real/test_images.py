"""Pictures: those that ship, and files and arrays of the reader's own."""

import numpy as np
import torch
from sklearn.datasets import load_digits

from checks import refused
from shallowformer.real import images


def test_shipped_digits_are_those_of_scikit_learn():
    pictures, digits = images.images()
    found = load_digits()
    assert torch.equal(pictures, torch.from_numpy(found.data / 16))
    assert digits.tolist() == found.target.tolist()


def test_a_file_of_pictures(tmp_path):
    x = np.arange(4 * 9, dtype=np.uint8).reshape(4, 3, 3)
    y = np.array([0, 1, 0, 1])
    np.savez(tmp_path / "mnist.npz", x_train=x, y_train=y)
    for pictures, digits in (
        images.images(tmp_path / "mnist.npz"),
        images.images(str(tmp_path / "mnist.npz")),
        images.images(x, y),
    ):
        assert pictures.shape == (4, 9)
        assert float(pictures[-1, -1]) == 1
        assert digits.tolist() == [0, 1, 0, 1]
    np.savez(tmp_path / "other.npz", a=x)
    refused("source", "['a']", "x_train and y_train", images.images, tmp_path / "other.npz")
    refused("labels", "3", "one a picture (4)", images.images, x, y[:3])
