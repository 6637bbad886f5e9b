/* The judge's side of a call. The contestant may write anything to the page at any time. */
#include "inside.h"

#include <math.h>
#include <string.h>

static uint32_t load_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* A wait of the judge: it spins for awake_ns, while precision matters, then naps between looks.
 * `word`: a word on the page whose writer wakes the judge; NULL: none. The judge reads the clock
 * and the socket only now and then, because that costs more than reading the word. */
struct waiting {
	const struct isolated_call *call;
	const uint32_t *word;
	int64_t begin_ns, awake_ns, looked_ns;
	unsigned int looks;
};

static struct waiting begin_waiting(
	const struct isolated_call *call, const uint32_t *word, int64_t begin_ns, int64_t awake_ns)
{
	const bool sleeps = call->sleeps && word;
	return (struct waiting){ .call = call,
		.word = sleeps ? word : NULL,
		.begin_ns = begin_ns,
		.awake_ns = sleeps ? 0 : awake_ns,
		.looked_ns = begin_ns };
}

static int keep_waiting(struct waiting *waiting)
{
	enum {
		looks = 64,
		look_at_socket_ns = 2 * isolated_ns_per_ms,
		nap_ns = 50 * isolated_ns_per_us
	};
	isolated_pause();
	if (++waiting->looks % looks && waiting->awake_ns)
		return 0;
	if (!waiting->word)
		isolated_make_way();
	const int64_t now_ns = isolated_clock_ns(), waited_ns = now_ns - waiting->begin_ns;
	if (waited_ns >= waiting->call->limit_ns - waiting->call->waited_ns)
		return isolated_fail(ISOLATED_TIMEOUT, "The submission did not answer within %.3g s.",
			(double)waiting->call->limit_ns / 1e9);
	if (now_ns - waiting->looked_ns >= look_at_socket_ns) {
		waiting->looked_ns = now_ns;
		if (isolated_hung_up(waiting->call->socket))
			return isolated_fail(ISOLATED_GONE, "The submission's process ended during a call.");
	}
	if (waited_ns >= waiting->awake_ns) {
		waiting->awake_ns = 0;
		if (waiting->word) /* the call's number is not there yet */
			isolated_sleep_on(waiting->word, waiting->call->number - 1, look_at_socket_ns);
		else
			isolated_sleep(nap_ns);
	}
	return 0;
}

/* ---- arm ---- */

static int wrote_over(const char *field, uint32_t found)
{
	return isolated_fail(ISOLATED_VIOLATION,
		"The submission's process wrote over the page that it shares with the judge: \"%s\" is "
		"%u, which is not the number of the call.",
		field, found);
}

static int announce_call(const struct isolated_call *call)
{
	struct isolated_page *page = call->page;
	const uint32_t last = call->number - 1, ready = load_word(&page->ready),
				   done = load_word(&page->done);
	if (ready != last)
		return wrote_over("ready", ready);
	if (done != last)
		return wrote_over("done", done);
	page->command = call->command;
	page->slot = call->slot;
	page->cpu = call->cpu;
	page->sleeps = call->sleeps;
	__atomic_store_n(&page->armed, call->number, __ATOMIC_RELEASE);
	isolated_wake(&page->armed);
	return 0;
}

static int wait_until_ready(struct isolated_call *call)
{
	struct waiting waiting =
		begin_waiting(call, &call->page->ready, isolated_clock_ns(), isolated_ns_per_ms);
	int rc = 0;
	for (uint32_t ready; !rc && (ready = load_word(&call->page->ready)) != call->number;)
		rc = ready == call->number - 1 ? keep_waiting(&waiting) : wrote_over("ready", ready);
	call->waited_ns += isolated_clock_ns() - waiting.begin_ns;
	return rc;
}

int isolated_announce(struct isolated_call *call)
{
	if (!call->command || call->command == ISOLATED_LEAVE || call->command >= ISOLATED_COMMANDS)
		return isolated_fail(
			ISOLATED_FAILED, "A call cannot be armed with command %u.", call->command);
	call->number++;
	call->is_announced = 1;
	call->waited_ns = 0;
	call->announced_ns = isolated_clock_ns();
	return announce_call(call);
}

int isolated_arm(struct isolated_call *call)
{
	if (call->withheld.count > isolated_most_lines)
		return isolated_fail(ISOLATED_FAILED, "A call cannot withhold %llu lines.",
			(unsigned long long)call->withheld.count);
	int rc = isolated_probes_prepare(call);
	if (!rc && !call->is_announced)
		rc = isolated_announce(call);
	if (!rc)
		rc = wait_until_ready(call);
	call->ready_ns = isolated_clock_ns() - call->announced_ns;
	call->is_announced = 0;
	return rc;
}

/* ---- ring ---- */

enum { awake_in_calls_ns = 100 * isolated_ns_per_ms };

/* Waits for the end of the head, the judge's own work on the GPU, which starts the clock. Keeps
 * waiting if the contestant ends meanwhile. */
static int wait_for_head(struct isolated_call *call, int64_t rung_ns)
{
	struct waiting waiting = begin_waiting(call, NULL, rung_ns, awake_in_calls_ns);
	int rc = 0;
	while (load_word(call->head) != call->head_value && (!rc || rc == ISOLATED_GONE))
		rc = keep_waiting(&waiting);
	return rc == ISOLATED_GONE ? 0 : rc;
}

static int wait_until_done(const struct isolated_call *call, int64_t rung_ns)
{
	struct waiting waiting = begin_waiting(call, &call->page->done, rung_ns, awake_in_calls_ns);
	int rc = 0;
	for (uint32_t done; !rc && (done = load_word(&call->page->done)) != call->number;)
		rc = done == call->number - 1 ? keep_waiting(&waiting) : wrote_over("done", done);
	/* A contestant may say done and end. Its `done` counts, so look once more after its end. */
	return rc == ISOLATED_GONE && load_word(&call->page->done) == call->number ? 0 : rc;
}

static int take_result(struct isolated_call *call)
{
	const struct isolated_page *page = call->page;
	uint64_t own = __atomic_load_n((const uint64_t *)(const void *)&page->own_ns, __ATOMIC_RELAXED);
	call->status = load_word(&page->status);
	call->spec = load_word(&page->spec);
	memcpy(&call->own_ns, &own, sizeof call->own_ns);
	if (!isfinite(call->own_ns) || call->own_ns <= 0)
		call->own_ns = NAN;
	return call->status < ISOLATED_STATUSES
		? 0
		: isolated_fail(ISOLATED_VIOLATION,
			"The submission's process ended a call with the unknown status %u.", call->status);
}

/* Waits until `at_ns` (0: does not wait), then hands over `handed`, if any, and opens the gate. */
static int hand_over(struct isolated_call *call, int64_t at_ns)
{
	int rc = 0;
	if (call->handed) {
		isolated_spin_until(at_ns);
		rc = isolated_hand_over(call->socket, call->handed);
		call->announced_ns = 0;
	}
	if (!rc)
		isolated_gate_open(call, at_ns);
	return rc;
}

static void ring_bell(const struct isolated_call *call)
{
	__atomic_store_n(&call->page->called, call->number, __ATOMIC_RELEASE);
	if (call->sleeps)
		isolated_wake(&call->page->called);
}

static int ring_and_wait(struct isolated_call *call)
{
	const int64_t rung_ns = isolated_clock_ns();
	int rc = call->head ? 0 : hand_over(call, 0);
	if (rc)
		return rc;
	ring_bell(call);
	rc = call->head ? wait_for_head(call, rung_ns) : 0;
	const int64_t start_ns = call->head ? isolated_clock_ns() : rung_ns;
	const bool was_early = call->head && load_word(&call->page->done) == call->number;
	if (!rc && call->head)
		rc = hand_over(call, start_ns + call->open_ns);
	if (!rc)
		rc = wait_until_done(call, rung_ns);
	const int64_t done_ns = isolated_clock_ns();
	call->head_ns = start_ns - rung_ns;
	call->elapsed_ns = was_early ? 0 : done_ns - start_ns;
	if (!rc)
		isolated_spin_until(start_ns + call->least_ns);
	const int64_t probing_ns = isolated_clock_ns();
	if (!rc)
		rc = isolated_probes_read(call);
	call->probed_ns = isolated_clock_ns() - probing_ns;
	return rc;
}

int isolated_ring(struct isolated_call *call)
{
	const uint32_t done = load_word(&call->page->done);
	if (done != call->number - 1)
		return done == call->number ? isolated_fail(ISOLATED_VIOLATION,
				   "The submission's process said that it was done before the judge called it.")
									: wrote_over("done", done);
	int rc = ring_and_wait(call);
	return rc ? rc : take_result(call);
}

int isolated_resume(struct isolated_call *call)
{
	if (load_word(&call->page->done) == call->number)
		return 0;
	call->waited_ns = 0;
	int rc = wait_until_ready(call);
	if (!rc && call->announced_ns)
		rc = hand_over(call, 0);
	if (rc)
		return rc;
	isolated_gate_open(call, 0);
	ring_bell(call);
	return wait_until_done(call, isolated_clock_ns());
}
