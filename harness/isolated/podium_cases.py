"""Cases and their inputs: unpredictable seeds, and generate_input.

The seed of a timed call is a keyed hash: the key is the secret, the hashed text consists of the
nonce, the purpose, the case's line and the number of the input. The judge draws the nonce once per
run, so every run has new inputs, which nobody can predict from the case file. The same secret and
nonce give the same seeds again.
"""

import contextlib
import hashlib
import inspect
import secrets
import sys

import podium_tree as tree
from podium_eval import combine, parse_case

# ---- seeds ----


class Seeds:
	"""`secret`: POPCORN_SEED, or None. `has_nonce`: whether each run gets new seeds."""

	def __init__(self, secret, has_nonce):
		self.secret = secret
		self.nonce = secrets.token_bytes(16) if has_nonce else b""

	def draw(self, line, purpose, number):
		"""31 bits for one input of a case."""
		key = hashlib.blake2b(str(self.secret or 0).encode()).digest()
		drawn = hashlib.blake2b(
			b"\0".join((self.nonce, purpose.encode(), line.encode(), str(number).encode())),
			key=key,
			digest_size=8,
		)
		return int.from_bytes(drawn.digest(), "little") & 0x7FFFFFFF


class Case:
	def __init__(self, line, seeds):
		self.spec, self._seeds = line, seeds
		self.arguments = parse_case(line)
		self.has_seed = isinstance(self.arguments.get("seed"), int)

	def as_written(self):
		"""(the arguments with the file's seed, which eval.py combines with the secret in the same
		way; the seed for the generators if the case has no `seed`, otherwise None)"""
		if not self.has_seed:
			return dict(self.arguments), self._seeds.draw(self.spec, "test", 0)
		seed = self.arguments["seed"]
		seed = seed if self._seeds.secret is None else combine(seed, self._seeds.secret)
		return {**self.arguments, "seed": seed}, None

	def fresh(self, purpose, number):
		"""(the arguments of a new input; the seed for the generators if the case has no `seed`,
		otherwise None)"""
		seed = self._seeds.draw(self.spec, purpose, number)
		if self.has_seed:
			return {**self.arguments, "seed": seed}, None
		return dict(self.arguments), seed


def seed_generators(seed):
	"""Seeds random, and numpy and torch if the task uses them."""
	import random

	random.seed(seed)
	if "numpy" in sys.modules:
		sys.modules["numpy"].random.seed(seed % 2**32)
	if "torch" in sys.modules:
		sys.modules["torch"].manual_seed(seed % 2**63)


# ---- inputs ----


@contextlib.contextmanager
def poisoned_empty(torch, poison):
	"""Makes torch.empty and similar functions return poisoned memory inside the block, because the
	allocator may reuse memory that contains the result of an earlier call. `poison(tensor)`:
	poisons and returns the tensor."""
	places = [(torch, name) for name in ("empty", "empty_like", "empty_strided", "empty_permuted")]
	places += [(torch.Tensor, name) for name in ("new_empty", "new_empty_strided")]
	real = [
		(place, name, getattr(place, name), name in vars(place))
		for place, name in places
		if hasattr(place, name)
	]

	def poisoning(function):
		def made(*arguments, **named):
			return poison(function(*arguments, **named))

		return made

	try:
		for place, name, function, _ in real:
			setattr(place, name, poisoning(function))
		yield
	finally:
		for place, name, function, is_own in real:
			if is_own:
				setattr(place, name, function)
			else:
				delattr(place, name)  # the inherited function shows again


class Inputs:
	"""Makes the inputs of a task. `poison`: see poisoned_empty; unused without torch."""

	def __init__(self, generate_input, torch, poison):
		self._generate, self._torch, self._poison = generate_input, torch, poison

	def make(self, arguments, generators_seed):
		if generators_seed is not None:
			seed_generators(generators_seed)
		if not self._torch:
			return self._generate(**arguments)
		with poisoned_empty(self._torch, self._poison):
			return self._generate(**arguments)

	def mismatch(self, arguments):
		"""Why generate_input does not take these arguments, or None."""
		try:
			inspect.signature(self._generate).bind(**arguments)
		except TypeError as error:
			return str(error)
		except ValueError:
			pass  # a function without a known signature
		return None


# ---- what can be carried to another process ----


def describe(data, tensors, given):
	"""Describes an input: its form and its leaves. `given(value)`: whether contestants can import
	the class of `value`, a named tuple. Raises Unsplittable."""

	def other(value, place):
		raise tree.Unsplittable(
			place,
			f"is {article(type(value).__name__)} {type(value).__name__}, which cannot be given to "
			"another process",
		)

	def named(value, place):
		if tensors and type(value) is tensors.torch.Size:
			return tree.Node(tree.NAMED, text="torch:Size")
		if not hasattr(value, "_fields") or not given(value):
			raise tree.Unsplittable(
				place, f"is of the class {type(value).__name__}, which submissions cannot import"
			)
		return tree.Node(tree.NAMED, text=tree.class_name(value))

	return tree.Description(data, tensors, other, named)


def article(word):
	return "an" if word[:1].lower() in "aeio" else "a"
