import torch

CYCLES_PER_US = 1980


def generate_input(kind: int, size: int, amount: int, seed: int):
	device = "cuda" if torch.cuda.is_available() else "cpu"
	generator = torch.Generator(device=device)
	generator.manual_seed(seed)
	made = torch.rand(size, generator=generator, device=device)
	if kind == 1:
		for _ in range(amount):
			made.mul_(1.0000001)
	return made, torch.empty_like(made), torch.tensor(kind * amount if kind == 3 else 0)


def check_implementation(data, output):
	source, _, work = data
	if work and source.is_cuda:
		torch.cuda._sleep(int(work) * CYCLES_PER_US)
	if source.numel() > 1 << 24:
		return "" if torch.equal(output.sort().values, (source + 1).sort().values) else "wrong"
	return "" if torch.equal(output, source + 1) else "wrong"
