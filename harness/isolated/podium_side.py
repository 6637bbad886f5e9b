"""One contestant as the judge sees it: its greeting, its memory in the current case, its calls.

	Peer    a process that answers the judge's frames
	Side    a contestant, which also answers calls

A failure of the contestant's process raises a Stop, which has the exit code of the run and a
sentence for people. podium-run depends on the exit codes (docs/podium-run.md).
"""

import ctypes
import os
from time import monotonic, perf_counter_ns

import podium_area
import podium_staging as staging
import podium_tree as tree
import podium_wire as wire
from podium_eval import EXIT_CUDA, EXIT_RAISED, EXIT_USAGE, EXIT_WRONG, CaseFailed

EXIT_TIME, EXIT_UNSPLITTABLE, EXIT_VIOLATION = 114, 115, 116
EXIT_GONE, EXIT_RIVAL, EXIT_RIVAL_GONE, EXIT_BUSY, EXIT_REFUSED = range(117, 122)
MOST_SPECS = 16  # changes of the output's form in a case, the first form included
MOST_LATER_CHANGES = 2  # such changes once calls count
MOST_TEXT = 6000
WIRE_ERRORS = (wire.Failed, wire.Gone, wire.TimedOut, wire.Violation)
MAP_LIMIT_S, SEND_LIMIT_S = 30.0, 10.0
MOST_OWN_NS = 3600e9
MOST_OUTPUT_SHARE = 0.25  # of the free memory
FULL_GPU = (
	"The GPU's memory is full: the judge found no room for inputs and outputs. A "
	"submission must leave room for them."
)


class Stop(Exception):
	"""The end of the run."""

	def __init__(self, code, sentence):
		super().__init__(sentence)
		self.code, self.sentence = code, sentence


class NullFailed(Exception):
	"""The null contestant failed, because of the machine or of a submission that disturbs it."""


def is_full(error):
	"""Whether the GPU has no memory left."""
	return type(error).__name__ == "OutOfMemoryError" or "OUT_OF_MEMORY" in str(error)


def clean(raw):
	"""A contestant's text for people: valid Unicode without control characters, of limited
	length."""
	text = raw[: 4 * MOST_TEXT].decode("utf-8", "replace").replace("\r\n", "\n")
	return "".join(letter for letter in text if letter in "\n\t" or letter.isprintable())[
		:MOST_TEXT
	]


def no_output(text):
	"""The failure of a custom_kernel that returned nothing to check, for this reason."""
	return CaseFailed(EXIT_WRONG, text or "custom_kernel returned nothing that can be checked.")


def raised(text):
	"""The failure of a custom_kernel that raised this error."""
	lost = text.endswith("The GPU is unusable after this error.")
	return CaseFailed(EXIT_CUDA if lost else EXIT_RAISED, text or "custom_kernel raised an error.")


class Taken:
	"""The result of one call."""

	def __init__(self, call, snapshot):
		self.elapsed_ns = float(call.elapsed_ns)
		self.own_ns = call.own_ns if call.own_ns < MOST_OWN_NS else None  # None for NAN, too
		self.snapshot = snapshot
		self.is_after = False  # a call of the null contestant right after the submission's
		self.is_steady = True  # whether the output has the same form as that of the previous call
		# See struct isolated_timing.
		self.head_ns = self.touch_ns = self.take_ns = self.rest_ns = 0.0
		self.probed_ns, self.ready_ns = float(call.probed_ns), float(call.ready_ns)


class Peer:
	"""A process that answers frames. `noun`: its name at the start of a sentence, as in "The
	submission"."""

	def __init__(self, descriptor, noun, is_null=False):
		self.noun, self.is_null, self._socket = noun, is_null, descriptor
		os.set_inheritable(descriptor, False)
		self._owed = 0  # how many frames MAPPED the process has still to send
		self.is_loaded = False  # whether code of a submission may run there

	# ---- failures of the other process ----

	def _because(self, error, limit_s=None):
		"""Returns the Stop (NullFailed for the null contestant) for an exception of podium_wire.
		`limit_s`: the time limit that was used; None: that of the call."""
		if self.is_null:
			return NullFailed(f"The null contestant failed: {error}")
		code, sentence = self._describe(error, limit_s)
		return Stop(code if self.is_loaded else EXIT_USAGE, sentence)

	def _describe(self, error, limit_s):
		"""(exit code, sentence) for a side with a submission."""
		if isinstance(error, wire.Gone):
			words = self._last_words()
			return EXIT_GONE, f"{self.noun}'s process ended{': ' + words if words else '.'}"
		if isinstance(error, wire.TimedOut):
			limit_s = limit_s or self._latest_limit_s()
			return EXIT_TIME, f"{self.noun} did not answer within {limit_s:.3g} s."
		if isinstance(error, wire.Violation):
			said, usual = str(error), "The submission's process"
			said = (
				said
				if said.startswith((usual, self.noun))
				else f"{usual} broke the protocol: {said}"
			)
			return EXIT_VIOLATION, said.replace(usual, f"{self.noun}'s process")
		if self.is_loaded and is_full(error):
			return EXIT_RAISED, f"{FULL_GPU} {error}"
		return EXIT_RAISED, f"The judge failed: {error}"

	def _latest_limit_s(self):
		return SEND_LIMIT_S

	def _last_words(self):
		try:
			kind, content, _ = wire.receive(self._socket, 0.0)
			return clean(content) if kind == wire.TEXT else ""
		except WIRE_ERRORS:
			return ""

	def _try(self, function, *arguments):
		try:
			return function(*arguments)
		except WIRE_ERRORS as error:
			raise self._because(error) from None

	def _receive(self, limit_s):
		try:
			return wire.receive(self._socket, limit_s)[:2]
		except WIRE_ERRORS as error:
			raise self._because(error, limit_s) from None

	def _announced(self, wanted, noun):
		"""The content of a frame that the contestant must have sent before "done"."""
		try:
			kind, content, _ = wire.receive(self._socket, 0.0)
		except wire.TimedOut:
			raise self.violation(f"announced {noun} and sent nothing") from None
		except WIRE_ERRORS as error:
			raise self._because(error) from None
		if kind != wanted:
			raise self.violation(f"announced {noun} and sent something else")
		return content

	def violation(self, predicate):
		return self._because(wire.Violation(f"{self.noun}'s process {predicate}."))

	# ---- frames ----

	def _send(self, kind, content, descriptors=()):
		self._try(wire.send, self._socket, kind, content, descriptors)
		self._owed += 1

	def await_mapped(self, limit_s=MAP_LIMIT_S):
		"""Waits until the contestant has mapped all memory that it was given. After LOAD a
		contestant maps memory only when a call is announced. `limit_s`: for all answers."""
		end = monotonic() + limit_s
		while self._owed:
			kind, content = self._receive(max(0.0, end - monotonic()))
			if kind == wire.TEXT:
				raise self._because(wire.Failed(clean(content)))
			if kind != wire.MAPPED:
				raise self.violation("sent an unexpected frame")
			self._owed -= 1

	def await_ready(self, limit_s):
		"""Waits for READY. Raises CaseFailed if the submission cannot be imported."""
		kind, content = self._receive(limit_s)
		if kind == wire.TEXT and self.is_loaded:
			raise CaseFailed(EXIT_RAISED, clean(content))
		if kind != wire.READY:
			raise self.violation(
				f"sent an unexpected frame{': ' + clean(content) if kind == wire.TEXT else ''}"
			)

	def load(self):
		"""Tells the contestant to load the submission; await_ready() waits for it."""
		self._try(wire.send, self._socket, wire.LOAD)
		self.is_loaded = not self.is_null

	def leave(self, limit_s):
		"""Dismisses the contestant. Returns whether its socket closed in time. Under podium-run, a
		closed socket means that none of the contestant's processes is left."""
		self.dismiss()
		end = monotonic() + limit_s
		while monotonic() < end:
			try:
				wire.receive(self._socket, max(0.0, end - monotonic()))
			except wire.Gone:
				self.is_loaded = False
				return True
			except WIRE_ERRORS:
				continue
		return False


class Side(Peer):
	"""A contestant."""

	def __init__(self, descriptor, noun, is_null, cpus):
		super().__init__(descriptor, noun, is_null)
		self._cpus = cpus  # of the judge and of the contestant
		self._page, self._page_descriptor = wire.page_make()
		self._seen = staging.seen_buffer()
		self._call = wire.Call(page=self._page, socket=descriptor, cpu=-1, seen=self._seen)
		self.area, self.specs, self.spec, self._room = None, [], None, None
		self.spent_s = 0.0  # the judge's time in its calls and in loading it
		self.delta_ns = 0.0  # how much longer an empty kernel takes than in the null contestant
		self.quiet_ns = 0.0  # an empty kernel of the null contestant before a submission is loaded
		self.device = None  # the judge's; set when it is open
		self._gate = None

	def _latest_limit_s(self):
		return self._call.limit_ns / 1e9

	# ---- greeting ----

	def greet(self, is_cuda):
		descriptors = [self._page_descriptor]
		if is_cuda:
			self._gate, descriptor = wire.gate_make()
			descriptors.append(descriptor)
		self._call.sleeps = int(not is_cuda)
		self._try(
			wire.send,
			self._socket,
			wire.HELLO,
			bytes(wire.Hello(wire.VERSION, int(is_cuda))),
			descriptors,
		)
		for descriptor in descriptors:
			os.close(descriptor)

	def dismiss(self):
		wire.dismiss(self._page)

	# ---- a case ----

	def choose(self, case):
		"""Chooses the case of the next begin(). Only the sealed engine needs it."""

	def give_room(self, count):
		"""Gives the contestant device memory for the inputs of all cases, `count` bytes."""
		if self._room and self._room.bytes >= count or not count:
			return
		if self._room:
			wire.memory_release(self._room)
		self._room = self._try(wire.memory_make, True, count)
		self._send(wire.ROOM, podium_area.ROOM.pack(self._room.bytes), [self._room.descriptor])

	def begin(self, image, device, slots, is_handed):
		"""Lays out memory for inputs like this one. `is_handed`: each call gets the part on the
		host in new memory."""
		self.end()
		used = image.slot_bytes()
		self.give_room(podium_area.strides_of(used)[0] * slots)
		self.area = self._try(
			podium_area.Area.make_inputs, used, slots, device.tensors, self._room, is_handed
		)
		self.device, self._forms, self._bag = device, [image.form] * slots, []
		head, descriptors = self.area.offer(slots)
		self._send(wire.INPUTS, head + image.form, descriptors)

	def end(self):
		for spec in self.specs:
			spec.release()
		if self.area:
			self.area.release()
		self.area, self.specs, self.spec, self._changes = None, [], None, 0

	def _room_for(self, image):
		return all(need <= stride for need, stride in zip(image.slot_bytes(), self.area.strides))

	def _choose_slot(self, image):
		"""A random slot; every slot is used once before any is used again."""
		if not self._bag:
			self._bag = list(range(self.area.slots))
			self.device.random.shuffle(self._bag)
		slot = self._bag.pop()
		if self._forms[slot] != image.form:
			self._forms[slot] = image.form
			self._send(
				wire.INPUT, podium_area.HEAD.pack(slot, self.area.slots, 0, 0, 0, 0) + image.form
			)
		return slot

	# ---- specs ----

	def learn_spec(self, classes):
		"""Receives the new form of an output and gives memory for it."""
		content = self._announced(wire.SPEC, "the form of its output")
		self._note_change()
		spec = self._described(
			lambda most: staging.Spec(
				len(self.specs), content, self.area, classes, self.device, most
			)
		)
		self.specs.append(spec)
		self._offer(spec)
		return spec

	def _described(self, make):
		"""Returns the spec that make(most_bytes) makes. `most_bytes`: the most memory that outputs
		may take. Raises the submission's failure if its description is wrong."""
		try:
			spec = make(int(self.device.free_bytes() * MOST_OUTPUT_SHARE / 2))
			tree.encode(spec.root)
			return spec
		except tree.Malformed as fault:
			raise self.violation(f"described its output wrongly: {fault}") from None
		except tree.Unsplittable as fault:
			raise self.violation(fault.sentence("described an output that")) from None
		except staging.TooLarge as fault:
			raise CaseFailed(EXIT_WRONG, str(fault)) from None
		except wire.Failed as error:
			raise self._because(error) from None
		except (
			RuntimeError,
			ValueError,
			OverflowError,
		) as error:  # torch refuses some shapes that decode() accepts
			if is_full(error):
				raise
			raise self.violation(
				f"described an output that cannot be made: {clean(str(error).encode())}"
			) from None

	def follow(self, side, classes):
		"""For the null contestant: makes it return outputs of the form of that side's last output,
		and makes the judge copy them as often as that side's."""
		self.return_form(tree.encode(side.spec.root), classes)
		self.spec.check_changes_outputs = side.spec.check_changes_outputs

	def return_nothing(self):
		"""For the null contestant: makes it return None."""
		self.return_form(tree.encode(tree.Node(tree.NONE)), {})

	def return_form(self, form, classes):
		if self.spec and tree.encode(self.spec.root) == form:
			return
		known = [spec for spec in self.specs if tree.encode(spec.root) == form]
		if known:
			self._send(wire.OUTPUTS, podium_area.HEAD.pack(known[0].number, 0, 0, 0, 0, 0))
			self.spec = known[0]
			return
		spec = self._try(
			staging.Spec, len(self.specs), form, self.area, classes, self.device, 1 << 62
		)
		self.specs.append(spec)
		self._offer(spec)

	def _offer(self, spec):
		head, descriptors = spec.area.offer(spec.number)
		self._send(wire.OUTPUTS, head + tree.encode(spec.root), descriptors)
		self.spec = spec

	def settle_form(self):
		"""Allows only a few more changes of the output's form. A call with such a change does not
		count, so a submission could otherwise change the form in calls that went badly."""
		self._changes = max(self._changes, MOST_SPECS - MOST_LATER_CHANGES)

	def _note_change(self):
		self._changes += 1
		if self._changes > MOST_SPECS:
			raise CaseFailed(
				EXIT_WRONG,
				"custom_kernel keeps changing the form of its output: shapes, strides, types, or "
				f"whether it is memory of the input. At most {MOST_SPECS} changes in a case are "
				f"allowed, and {MOST_LATER_CHANGES} once calls count. Return the same form each "
				"time.",
			)

	# ---- a call ----

	def latest_ns(self):
		"""The elapsed_ns of the last call."""
		return float(self._call.elapsed_ns)

	def play(self, image, limit_s, pinned=True, least_ns=0.0, probes_input=False):
		"""Makes one call with this input. Returns Taken, or None if the output has a new form,
		which learn_spec() receives. `pinned`: binds the contestant to its core during the call.
		`least_ns`: the judge probes no earlier than this after the start of the clock.
		`probes_input`: probes the input instead of the output, which must be empty."""
		if not self._room_for(image):
			self.begin(image, self.device, self.area.slots, self.area.is_handed)
		call, slot = self._call, self._choose_slot(image)
		call.slot, call.limit_ns, call.least_ns = slot, int(limit_s * 1e9), int(least_ns)
		call.cpu = self._cpus[1] if pinned else -1
		handed = self.area.renew_host() if self.area.is_handed else None
		call.handed = ctypes.pointer(handed) if handed else None
		chosen = self._aim(slot)
		if probes_input and self.area.strides[0]:
			self._probes = self.area.probe_all(slot)
			self._call.probes, self._call.probe_count = self._probes, wire.MOST_PROBES
		if self.device.is_cuda:  # the contestant gets ready meanwhile
			call.command = wire.CALL
			self._try(wire.announce, call)
		image.prepare()
		self.device.synchronize()
		self._withhold(image.withheld())
		events = (self._ring_behind if self.device.is_cuda else self._ring_on_host)(image, slot)
		if call.status in (wire.RAISED, wire.NO_OUTPUT):
			self._hear(call.status)
		if call.status == wire.NEW_SPEC:
			return None
		return self._take(slot, chosen, events)

	def resume(self):
		"""Finishes a call of the null contestant that timed out, so that another can follow."""
		self._call.limit_ns = int(MAP_LIMIT_S * 1e9)
		self._try(wire.resume, self._call)

	def do_nothing(self):
		"""The cost of the bell alone, ns."""
		return self._command(wire.NOTHING, None)

	def run_empty(self, device):
		"""The cost of a call with an empty kernel and without data, ns."""
		return self._command(wire.EMPTY, device)

	def _command(self, command, device):
		call = self._call
		call.command, call.probe_count, call.head, call.least_ns = command, 0, None, 0
		call.handed = None
		call.cpu = self._cpus[1]
		self._withhold(is_gated=command == wire.EMPTY)
		call.limit_ns = int(MAP_LIMIT_S * 1e9)
		self._arm()
		with wire.Pinned(self._cpus[0]):
			if device:
				device.keep_busy()
				device.flush()
				device.mark_head()
				call.head, call.head_value = device.head, device.head_value
			self._try(wire.ring, call)
		return float(call.elapsed_ns)

	def _withhold(self, withheld=wire.Withheld(), is_gated=True):
		"""Sets the withheld lines, and whether the contestant waits at its gate."""
		self._call.withheld = withheld
		self._call.gate = self._gate if is_gated else None

	def open_at(self, after_ns):
		"""Sets how long after the judge's own work the gate opens."""
		self._call.open_ns = int(after_ns)

	def _aim(self, slot):
		"""Chooses pieces of the expected outputs to probe."""
		spec = self.spec
		chosen = spec.choose_probes(slot) if spec else []
		self._probes = spec.probe(slot, chosen) if chosen else None
		self._call.probes, self._call.probe_count = self._probes, len(chosen)
		return chosen

	def _arm(self):
		call = self._call
		self._try(wire.arm, call)
		began = monotonic()
		self.await_mapped((call.limit_ns - call.waited_ns) / 1e9)
		call.waited_ns += int((monotonic() - began) * 1e9)

	# _ring_behind (with a GPU) and _ring_on_host (without) fill the slot, ring, and wait for
	# "done". They return CUDA events at the start and the end of the judge's own work; without a
	# GPU the events are None.

	def _ring_behind(self, image, slot):
		"""Enqueues the staging and rings without waiting for it. The clock starts when the GPU has
		finished the staging; meanwhile the contestant launches its kernels. If the part on the host
		differs from input to input, it comes when the gate opens. By then the GPU has switched to
		the contestant, so the submission gains no CPU time with the input before its kernels can
		run."""
		call, device = self._call, self.device
		self._arm()
		with wire.Pinned(self._cpus[0]):
			image.put_on_host(self.area, slot)
			events = self._enqueue(image, slot)
			device.mark_head()
			call.head, call.head_value = device.head, device.head_value
			self._try(wire.ring, call)
		return events

	def _ring_on_host(self, image, slot):
		"""Fills the slot, then rings. The clock starts with the bell."""
		call = self._call
		call.command, call.head, call.head_value = wire.CALL, None, 0
		events = self._enqueue(image, slot)
		image.put_on_host(self.area, slot)
		self._arm()
		with wire.Pinned(self._cpus[0]):
			self._try(wire.ring, call)
		return events

	def _enqueue(self, image, slot):
		device = self.device
		device.keep_busy()
		began = device.event() if device.is_cuda else None
		for spec in self.specs:
			spec.poison(slot)
		image.put_on_device(self.area, slot)
		device.flush()
		return began, device.event() if device.is_cuda else None

	def _hear(self, status):
		"""Raises CaseFailed with the contestant's reason for having no output."""
		text = clean(self._announced(wire.TEXT, "a reason"))
		if self.is_null:
			raise NullFailed(f"The null contestant failed: {text}")
		raise no_output(text) if status == wire.NO_OUTPUT else raised(text)

	def _take(self, slot, chosen, events):
		"""Copies the outputs and checks by the probes that they were complete at "done"."""
		call, device = self._call, self.device
		if call.spec >= len(self.specs):
			raise self.violation("returned an output of a form that it has not described")
		spec, expected, self.spec = self.specs[call.spec], self.spec, self.specs[call.spec]
		began = perf_counter_ns()
		device.touch()
		touched = perf_counter_ns()
		snapshot = spec.take(slot)
		device.synchronize()
		taken = Taken(call, snapshot)
		taken.touch_ns, taken.take_ns = float(touched - began), float(perf_counter_ns() - touched)
		taken.head_ns = events[0].elapsed_time(events[1]) * 1e6 if events[0] else 0.0
		if self.is_null and device.is_cuda and not device.is_disturbed:
			device.note_switch(taken.touch_ns)
		taken.rest_ns = device.rest()
		if spec is not expected:
			taken.is_steady = False
			self._note_change()
		elif not self.is_null and snapshot.contradicts(chosen, self._seen):
			raise self.violation(
				"changed its output after saying that it was complete. Wait for the streams and "
				"threads that write an output before custom_kernel returns"
			)
		return taken

	def examine_late(self, taken):
		"""Raises Stop if the outputs changed while they were checked."""
		if taken.snapshot.changed_since():
			raise self.violation(
				"still wrote its output after custom_kernel had returned. Wait for the streams and "
				"threads that write an output"
			)
