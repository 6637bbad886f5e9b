"""Running sums of a vector. An example of a task that is a single file, `reference_code.py`.

`custom_kernel(data)` gets a float32 vector of 65536 elements between -0.5 and 0.5 and returns a
float32 vector of the same length: its element `i` is the sum of `data[0]` to `data[i]`.

**Check.** Every element within one thousandth of the largest running sum.

**Ranking.** The time of the benchmark, in which the result's memory is allocated too; less is
better.
"""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def generate_input():
	return (torch.rand(65536) - 0.5).to(DEVICE)


def ref_kernel(data):
	return torch.cumsum(data.double(), dim=0).float()


def check_implementation(custom_output, ref_output):
	if not isinstance(custom_output, torch.Tensor):
		return False
	if custom_output.shape != ref_output.shape or custom_output.dtype != ref_output.dtype:
		return False
	off = (custom_output - ref_output).abs()
	return bool((off <= 1e-3 * ref_output.abs().max()).all())
