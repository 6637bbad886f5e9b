import torch

from utils import set_seed


def generate_input(work, size, amount, seed):
	"""Makes an input in one pass, because this task needs large inputs often."""
	set_seed(seed)
	source = torch.rand(size, device="cuda" if torch.cuda.is_available() else "cpu")
	return work, amount, source, torch.full_like(source, float("nan"))


def check_implementation(data, output):
	good = torch.equal(output, data[2] + 1)
	return good, "" if good else "The output is not the source plus 1."
