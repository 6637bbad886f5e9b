"""Doubles the input. The task's eval has the oldest form."""

import random


def generate_input():
	return [random.randrange(1000) for _ in range(2000)]


def ref_kernel(data):
	return [2 * number for number in data]


def check_implementation(custom_output, ref_output):
	return custom_output == ref_output
