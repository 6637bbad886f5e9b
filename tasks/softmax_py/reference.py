import torch

from task import input_t, output_t
from utils import make_match_reference, same_memory, uniform


def generate_input(rows: int, columns: int, seed: int) -> input_t:
	x = uniform((rows, columns), seed, -4, 4)
	x[0::2] += 100
	x[1::2] -= 150
	return x, torch.full_like(x, float("nan"))


def is_output_of(data: input_t, output: output_t) -> bool:
	return same_memory(output, data[1])


def ref_kernel(data: input_t) -> output_t:
	return torch.softmax(data[0].double(), dim=1).float()


check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-8)
