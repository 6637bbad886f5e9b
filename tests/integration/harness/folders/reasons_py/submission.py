#!POPCORN leaderboard reasons_py
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
	given, output = data
	return output.copy_(given)
