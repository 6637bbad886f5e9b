"""An eval with one process per GPU, as in tasks for several GPUs: a `spawn` pool, and NCCL over the
loopback network."""

import multiprocessing
import os
import sys
import time

import torch
import torch.distributed as dist


def one_rank(rank, world_size, size, seed, runs):
	"""Runs one rank. Returns (whether all outputs are right, times in ns)."""
	os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="12366", NCCL_NVLS_ENABLE="0")
	torch.cuda.set_device(rank)
	dist.init_process_group(
		"nccl", rank=rank, world_size=world_size, device_id=torch.device("cuda", rank)
	)
	from submission import custom_kernel

	right, times = True, []
	for number in range(runs):
		data = torch.full((size,), float(rank + 1 + seed % 7 + number), device="cuda")
		dist.barrier()
		torch.cuda.synchronize()
		began = time.perf_counter_ns()
		output = custom_kernel(data)
		torch.cuda.synchronize()
		times.append(time.perf_counter_ns() - began)
		expected = sum(float(other + 1 + seed % 7 + number) for other in range(world_size))
		right = right and bool((output == expected).all())
	dist.destroy_process_group()
	return right, times


def main():
	mode, path = sys.argv[1:]
	result = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
	noun, good = "test" if mode == "test" else "benchmark", True
	with open(path) as lines:
		cases = lines.read().splitlines()
	result.write(f"{noun}-count: {len(cases)}\n")
	with multiprocessing.get_context("spawn").Pool(int(os.environ["POPCORN_GPUS"])) as pool:
		for index, line in enumerate(cases):
			case = {
				key.strip(): int(value)
				for key, value in (part.split(":") for part in line.split(";"))
			}
			world_size, runs = case["world_size"], 1 if mode == "test" else 50
			answers = pool.starmap(
				one_rank,
				[
					(rank, world_size, case["size"], case["seed"], runs)
					for rank in range(world_size)
				],
				1,
			)
			result.write(f"{noun}.{index}.spec: {line}\n")
			right = all(answer[0] for answer in answers)
			good = good and right
			result.write(f"{noun}.{index}.status: {'pass' if right else 'fail'}\n")
			if not right:
				result.write(f"{noun}.{index}.error: the sum over all ranks is wrong\n")
			elif mode != "test":
				times = answers[0][1][10:]
				mean = sum(times) / len(times)
				std = (sum((t - mean) ** 2 for t in times) / (len(times) - 1)) ** 0.5
				for name, value in dict(
					runs=len(times),
					mean=mean,
					std=std,
					err=std / len(times) ** 0.5,
					best=min(times),
					worst=max(times),
				).items():
					result.write(f"{noun}.{index}.{name}: {value}\n")
	result.write(f"check: {'pass' if good else 'fail'}\n")
	return 0 if good else 112


if __name__ == "__main__":
	sys.exit(main())
