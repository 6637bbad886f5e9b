"""Helpers that several tasks of a tree share. Comparisons return a pair, as in older task trees."""

import random

import torch


def set_seed(seed=42):
	random.seed(seed)
	torch.manual_seed(seed)


def clear_l2_cache():
	pass


def verbose_allclose(received, expected, rtol=1e-5, atol=1e-8):
	if received.shape != expected.shape:
		return False, ["the shapes differ"]
	wrong = (~torch.isclose(received, expected, rtol=rtol, atol=atol)).nonzero().flatten()
	return not len(wrong), [f"wrong at {index}" for index in wrong[:5].tolist()]
