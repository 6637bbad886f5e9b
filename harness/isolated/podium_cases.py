"""Cases and their inputs: what the case file says, the seeds that nobody can know before a call, and generate_input.

The case file is read as harness/eval.py reads it. A seed of a timed call is drawn from the secret, a number that the
system draws once per run, the case's line and the call's number; so everybody gets other inputs each time, of which
nothing follows from the case file, and whoever knows the secret and the number can make them again.
"""
import ast
import contextlib
import hashlib
import inspect
import re
import secrets
import sys

import podium_tree as tree

NAME = re.compile(r"[A-Za-z_]\w*")
WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None}
INTEGER = re.compile(r"[+-]?\d+")
REAL = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|nan)")


class CaseError(Exception):
	"""A case file that cannot be read. The text is a sentence."""


def parse_value(text):
	if text in WORDS:
		return WORDS[text]
	if INTEGER.fullmatch(text):
		return int(text)
	if REAL.fullmatch(text):
		return float(text)
	if text.startswith(("[", "(", "{")):
		return ast.literal_eval(text)  # numbers, strings and containers of them; runs nothing
	return text


def parse_case(line):
	arguments = {}
	for part in line.split(";"):
		name, colon, value = (piece.strip() for piece in part.partition(":"))
		if not colon or not NAME.fullmatch(name):
			raise ValueError(f"{part.strip()!r} is not of the form \"name: value\"")
		if name in arguments:
			raise ValueError(f"{name} is there twice")
		try:
			arguments[name] = parse_value(value)
		except (ValueError, SyntaxError, RecursionError, MemoryError):
			raise ValueError(
				f"the value of {name} is not a list or tuple of plain values: {value}") from None
	return arguments


def read_cases(path, seeds):
	try:
		with open(path, encoding="utf-8") as file:
			lines = [line.strip() for line in file]
	except (OSError, UnicodeDecodeError) as error:
		raise CaseError(f"The case file {path} cannot be read: {error}") from None
	cases = []
	for number, line in enumerate(lines, 1):
		try:
			if line:
				cases.append(Case(line, seeds))
		except ValueError as error:
			raise CaseError(f"{path}, line {number}: {error}.") from None
	if not cases:
		raise CaseError(f"There are no cases in {path}.")
	return cases


# ---- seeds ----


def combine(a, b):
	"""One seed out of two, as eval.py makes it. Cantor's pairing function: no two pairs give the same."""
	return a + (a + b) * (a + b + 1) // 2


class Seeds:
	"""`secret`: POPCORN_SEED, or None. `has_nonce`: whether runs differ from each other."""

	def __init__(self, secret, has_nonce):
		self.secret = secret
		self.nonce = secrets.token_bytes(16) if has_nonce else b""

	def draw(self, line, purpose, number):
		"""31 bits for one input of a case."""
		key = hashlib.blake2b(str(self.secret or 0).encode()).digest()
		drawn = hashlib.blake2b(
			b"\0".join((self.nonce, purpose.encode(), line.encode(), str(number).encode())),
			key=key, digest_size=8)
		return int.from_bytes(drawn.digest(), "little") & 0x7fffffff


class Case:

	def __init__(self, line, seeds):
		self.spec, self._seeds = line, seeds
		self.arguments = parse_case(line)
		self.has_seed = isinstance(self.arguments.get("seed"), int)

	def as_written(self):
		"""(the arguments of a test, the seed for the generators), as eval.py would have them."""
		if not self.has_seed:
			return dict(self.arguments), self._seeds.draw(self.spec, "test", 0)
		seed = self.arguments["seed"]
		seed = seed if self._seeds.secret is None else combine(seed, self._seeds.secret)
		return {**self.arguments, "seed": seed}, None

	def fresh(self, purpose, number):
		"""(the arguments of an input that nobody has seen, the seed for the generators where the case has no `seed`)"""
		seed = self._seeds.draw(self.spec, purpose, number)
		if self.has_seed:
			return {**self.arguments, "seed": seed}, None
		return dict(self.arguments), seed


def seed_generators(seed):
	"""Those of random, and of numpy and torch where the task uses them."""
	import random
	random.seed(seed)
	if "numpy" in sys.modules:
		sys.modules["numpy"].random.seed(seed % 2**32)
	if "torch" in sys.modules:
		sys.modules["torch"].manual_seed(seed % 2**63)


# ---- inputs ----


@contextlib.contextmanager
def poisoned_empty(torch, poison):
	"""Inside, torch.empty and its kin give what nobody wrote, also where the allocator would give the result of an
	earlier call. `poison(tensor)` does that."""
	places = [(torch, name) for name in ("empty", "empty_like", "empty_strided", "empty_permuted")]
	places += [(torch.Tensor, name) for name in ("new_empty", "new_empty_strided")]
	real = [(place, name, getattr(place, name), name in vars(place)) for place, name in places
		if hasattr(place, name)]

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
				delattr(place, name)  # the inherited one shows again


class Inputs:
	"""Makes the inputs of a task. `poison(tensor)`: see above; None without torch."""

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
			pass  # a function without a signature
		return None


# ---- what can be carried to another process ----


def describe(data, tensors, given):
	"""The form of an input, with its values. `given(value)`: whether contestants can import the class of this named tuple.
	Raises Unsplittable."""

	def other(value, place):
		raise tree.Unsplittable(
			place,
			f"is {article(type(value).__name__)} {type(value).__name__}, which cannot be given to another process"
		)

	def named(value, place):
		if tensors and type(value) is tensors.torch.Size:
			return tree.Node(tree.NAMED, text="torch:Size")
		if not hasattr(value, "_fields") or not given(value):
			raise tree.Unsplittable(
				place, f"is of the class {type(value).__name__}, which submissions cannot import")
		return tree.Node(tree.NAMED, text=tree.class_name(value))

	return tree.Description(data, tensors, other, named)


def article(word):
	return "an" if word[:1].lower() in "aeio" else "a"
