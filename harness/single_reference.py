"""Gives a task of the older form, a single reference_code.py, the interface that eval.py expects.

reference_code.py defines generate_input(), ref_kernel(data) and check_implementation(output,
expected). Its inputs come from the generators of random, numpy or torch, which this file seeds
before each call."""

from reference_code import *  # submissions import its types and helpers from reference

import copy

import torch

import reference_code
from utils import set_seed


def generate_input(seed=None):
	if seed is not None:
		set_seed(seed)
	return reference_code.generate_input()


def _largest_difference(output, expected):
	"""The end of a sentence, or "" if the two cannot be compared element by element."""
	if not (isinstance(output, torch.Tensor) and isinstance(expected, torch.Tensor)):
		wanted, got = type(expected).__name__, type(output).__name__
		return f"; it is a {got}, expected a {wanted}" if wanted != got else ""
	if output.shape != expected.shape:
		return f"; its shape is {list(output.shape)}, expected {list(expected.shape)}"
	if not output.numel():
		return ""
	both = [side.detach().to("cpu", torch.float64).flatten() for side in (output, expected)]
	off = torch.nan_to_num((both[0] - both[1]).abs(), nan=float("inf"))
	index = int(off.argmax())
	got, wanted = both[0][index].item(), both[1][index].item()
	return f"; the largest difference is at flat index {index}: expected {wanted:g}, got {got:g}"


def check_implementation(data, output):
	expected = reference_code.ref_kernel(copy.deepcopy(data))
	if reference_code.check_implementation(output, expected):
		return True, ""
	return False, "the output is not that of ref_kernel" + _largest_difference(output, expected)
