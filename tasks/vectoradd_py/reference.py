import torch

from task import input_t, output_t
from utils import make_match_reference, same_memory, uniform


def generate_input(size: int, seed: int) -> input_t:
	a, b = uniform((2, size, size), seed, -2, 2, torch.float16)
	return a, b, torch.full_like(a, float("nan"))


def is_output_of(data: input_t, output: output_t) -> bool:
	return same_memory(output, data[2])


def ref_kernel(data: input_t) -> output_t:
	a, b, _ = data
	return (a.float() + b.float()).half()


check_implementation = make_match_reference(ref_kernel, rtol=1e-3, atol=1e-3)
