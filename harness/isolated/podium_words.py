"""Exceptions as text for people, for judge and contestant alike."""

import os
import traceback

OURS = os.path.dirname(os.path.abspath(__file__))
MOST_LINES = 12


def explain(error):
	"""The end of a traceback without the engine's own frames."""
	frame = error.__traceback__
	while (
		frame is not None
		and os.path.dirname(os.path.abspath(frame.tb_frame.f_code.co_filename)) == OURS
	):
		frame = frame.tb_next
	lines = "".join(traceback.format_exception(type(error), error, frame)).rstrip().split("\n")
	return "\n".join((["..."] if len(lines) > MOST_LINES else []) + lines[-MOST_LINES:])


def accuse(what, error):
	"""A sentence and the traceback. `what`: the subject of the sentence, "custom_kernel"."""
	last = traceback.format_exception_only(type(error), error)[-1].strip()
	return f"{what} raised {last}\n{explain(error)}"
