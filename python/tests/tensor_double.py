"""A library of tensors as small as it can be: what Palladion asks of PyTorch, over NumPy. It stands in for PyTorch,
which need not be installed; test_tensors.py runs with PyTorch too where it is. Not modelled: memory of other devices,
gradients that are recorded.
"""

import numpy as np


class Dtype:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"tensor_double.{self.name}"


int32, float32, uint8, bool = (Dtype(name) for name in ("int32", "float32", "uint8", "bool"))
_ALL = {dtype.name: dtype for dtype in (int32, float32, uint8, bool)}


class Tensor:
    def __init__(self, array, device=(1, 0)):
        self.array, self.device_of_dlpack = np.asarray(array), device
        self.device = "cpu" if device[0] == 1 else "cuda:0"
        self.shape = self.array.shape
        self.dtype = _ALL[self.array.dtype.name]

    def __dlpack__(self, **options):
        if self.dtype is bool:
            raise TypeError("no bool in this DLPack")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device_of_dlpack

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def view(self, dtype):
        return Tensor(self.array.view(dtype.name))

    def data_ptr(self):
        return self.array.ctypes.data

    def copy_(self, other):
        self.array[...] = other.array
        return self

    def tolist(self):
        return self.array.tolist()


def from_dlpack(array):
    return Tensor(np.from_dlpack(array))


def tensor(values, dtype):
    """Aligned to 64 bytes, as PyTorch's allocator does."""
    array = np.array(values, dtype.name)
    room = np.empty(array.nbytes + 64, np.uint8)
    aligned = room[-room.ctypes.data % 64 :][: array.nbytes].view(array.dtype).reshape(array.shape)
    aligned[...] = array
    return Tensor(aligned)
