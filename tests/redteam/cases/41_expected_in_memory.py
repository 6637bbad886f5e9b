# 41 expected_in_memory
# attempts: to find the expected output among Python's tensors and in shared memory. It returns what
#   it finds, or overwrites it with NaN or with its own wrong output
# required: FORGE-IGNORED
# verdict: wrong answer or protocol violation
# engines: isolated
# on: cpu gpu
# mode: ranked
# variants: copy nan own
import ctypes
import gc
import torch
import channel


def candidates(data):
    """Every tensor of that shape but the input."""
    size_of = data.numel() * data.element_size()
    found = [one for one in gc.get_objects() if type(one) is torch.Tensor and one.shape == data.shape and one.dtype == data.dtype
             and one.data_ptr() != data.data_ptr()]
    return found + [torch.frombuffer((ctypes.c_uint8 * size_of).from_address(address + start), dtype=data.dtype)
                    for address, size in channel.shared() if size != channel.PAGE_BYTES for start in range(0, size - size_of + 1, 1 << 20)]


def custom_kernel(data):
    mine = torch.zeros_like(data)
    for one in candidates(data):
        if "@VARIANT@" == "copy" and one.device == data.device and torch.allclose(one, 2 * data):
            return one.clone()
        if "@VARIANT@" != "copy" and one.data_ptr() not in (mine.data_ptr(), data.data_ptr()):
            one.fill_(float("nan") if "@VARIANT@" == "nan" else 0.0)
    return mine
