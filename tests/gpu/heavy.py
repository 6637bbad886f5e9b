# tests/gpu/cost appends this file to the reference of heavy_py, which the judge imports. Instead of
# each call's time, the judge then reports three figures for each case: the seconds that making
# inputs and checking outputs took, and the number of calls.
import time

import podium_statistics

spent = {"generate_input": 0.0, "check_implementation": 0.0}
Summary = podium_statistics.Summary


def timed(function):
	def call(*arguments, **named):
		began = time.monotonic()
		try:
			made = function(*arguments, **named)
			if torch.cuda.is_available():
				torch.cuda.synchronize()
			return made
		finally:
			spent[function.__name__] += time.monotonic() - began

	call.__wrapped__ = function
	return call


class ToldSummary(Summary):
	def __init__(self, *of_what):
		super().__init__(*of_what)
		self.samples = [*spent.values(), float(self.runs)]
		spent.update(dict.fromkeys(spent, 0.0))


generate_input, check_implementation = timed(generate_input), timed(check_implementation)
podium_statistics.Summary = ToldSummary
