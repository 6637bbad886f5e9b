import random


def generate_input(size, seed):
	chance = random.Random(seed)
	return [chance.randrange(1 << 30) for _ in range(size)]


def check_implementation(data, output):
	return "" if output == sum(data) else f"the sum is {sum(data)}, not {output}"
