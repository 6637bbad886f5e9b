#include "worker/run/job/inbox.h"

#include "lib/base/log.h"
#include "lib/base/text.h"
#include "worker/run/job/job.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { piece_bytes = 256 * 1024 };

int inbox_open(struct inbox *inbox, struct events *events, bool once, struct error *error)
{
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	*inbox = (struct inbox){ .input = STDIN_FILENO, .once = once, .events = events, .running = -1 };
	inbox->signals =
		sigprocmask(SIG_BLOCK, &ends, NULL) ? -1 : signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return inbox->signals >= 0
		? 0
		: fail(error, ERROR_SYSTEM, "Signals cannot be taken over: %s.", strerror(errno));
}

void inbox_close(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->waiting_count; i++)
		json_decref(inbox->waiting[i]);
	buffer_free(&inbox->bytes);
	close(inbox->signals);
}

/* Answers a message whose job never runs: with a verdict if the message names its id, else in the
 * log. */
static void refuse_job(struct inbox *inbox, int64_t id, enum verdict verdict, const char *sentence)
{
	if (id < 0) {
		log_error("%s", sentence);
		return;
	}
	struct events events = { .descriptor = inbox->events->descriptor, .job = id };
	event_verdict(&events,
		&(struct verdict_event){
			.verdict = verdict,
			.reason = sentence,
			.engine = "custom",
			.score_ns = NAN,
			.score_err_ns = NAN,
			.ratio = NAN,
			.ratio_low = NAN,
			.ratio_high = NAN,
		});
}

static void cancel_job(struct inbox *inbox, int64_t id)
{
	if (id == inbox->running) {
		inbox->cancelled = true;
		return;
	}
	for (size_t i = 0; i < inbox->waiting_count; i++) {
		if (job_id(inbox->waiting[i]) != id)
			continue;
		json_decref(inbox->waiting[i]);
		memmove(inbox->waiting + i, inbox->waiting + i + 1,
			(--inbox->waiting_count - i) * sizeof inbox->waiting[0]);
		refuse_job(inbox, id, VERDICT_CANCELLED, "The job was cancelled.");
		return;
	}
}

static void take_message(struct inbox *inbox, json_t *message)
{
	const json_t *cancelled = json_object_get(message, "cancel");
	if (json_is_integer(cancelled)) {
		cancel_job(inbox, json_integer_value(cancelled));
		json_decref(message);
	} else if (job_id(message) < 0 || inbox->waiting_count == inbox_most_waiting) {
		refuse_job(inbox, job_id(message), VERDICT_INTERNAL_ERROR,
			job_id(message) < 0
				? "A message is neither a job with an id nor a cancellation and was skipped."
				: "podium-run runs one job at a time, and others are waiting already; send it when "
				  "they have ended.");
		json_decref(message);
	} else {
		inbox->waiting[inbox->waiting_count++] = message;
	}
}

static void take_line(struct inbox *inbox, const char *line, size_t length)
{
	json_error_t fault;
	if (strspn(line, " \t\r") == length)
		return;
	json_t *message = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
	if (message) {
		take_message(inbox, message);
		return;
	}
	struct error error;
	cleanup_buffer struct buffer reason = { 0 };
	/* The parser's text quotes the message, which may hold any bytes. */
	text_append_printable(&reason, fault.text);
	fail(&error, ERROR_INPUT, "A message is not JSON (%s at byte %d) and was skipped.",
		buffer_string(&reason), fault.position);
	refuse_job(inbox, job_id_of_line(line), VERDICT_INTERNAL_ERROR, error.text);
}

static void skip_long_line(struct inbox *inbox)
{
	if (!inbox->skipping)
		refuse_job(inbox, job_id_of_line(inbox->bytes.data), VERDICT_INTERNAL_ERROR,
			"A message is longer than 64 MiB and was skipped.");
	inbox->skipping = true;
	buffer_free(&inbox->bytes);
	inbox->scanned = 0;
}

/* Handles all complete lines of the input. */
static void take_lines(struct inbox *inbox)
{
	struct buffer *bytes = &inbox->bytes;
	char *end;
	while (bytes->length > inbox->scanned
		&& (end = memchr(bytes->data + inbox->scanned, '\n', bytes->length - inbox->scanned))) {
		*end = '\0';
		if (!inbox->skipping)
			take_line(inbox, bytes->data, (size_t)(end - bytes->data));
		inbox->skipping = false;
		buffer_drop_front(bytes, (size_t)(end - bytes->data) + 1);
		inbox->scanned = 0;
	}
	inbox->scanned = bytes->length;
	if (bytes->length > inbox_most_line_bytes || inbox->skipping)
		skip_long_line(inbox);
	else if (!bytes->length)
		buffer_free(bytes); /* frees a job's files, which can be large */
}

static void read_input(struct inbox *inbox)
{
	static char piece[piece_bytes];
	ssize_t length = read(inbox->input, piece, sizeof piece);
	if (length > 0) {
		buffer_append(&inbox->bytes, piece, (size_t)length);
		take_lines(inbox);
	} else if (length == 0 || (errno != EINTR && errno != EAGAIN)) {
		inbox->input = -1;
		if (inbox->bytes.length && !inbox->skipping)
			take_line(inbox, inbox->bytes.data, inbox->bytes.length);
	}
}

/* Waits at most `wait_ms` (-1: without limit), then reads the available input. */
static void wait_for_input(struct inbox *inbox, int wait_ms)
{
	struct signalfd_siginfo received;
	struct pollfd ready[] = {
		{ inbox->input, POLLIN, 0 },
		{ inbox->signals, POLLIN, 0 },
		{ inbox->events->descriptor, 0, 0 },
	};
	if (poll(ready, 3, wait_ms) <= 0)
		return;
	if (ready[0].revents)
		read_input(inbox);
	if (ready[1].revents && read(inbox->signals, &received, sizeof received) > 0)
		inbox->told_to_end = true;
	if (ready[2].revents & (POLLERR | POLLNVAL))
		inbox->events->lost = true;
}

bool inbox_look(struct inbox *inbox)
{
	wait_for_input(inbox, 0);
	return inbox->cancelled || inbox->told_to_end || inbox->events->lost
		|| (inbox->input < 0 && !inbox->once);
}

json_t *inbox_next(struct inbox *inbox)
{
	while (
		!inbox->waiting_count && inbox->input >= 0 && !inbox->told_to_end && !inbox->events->lost)
		wait_for_input(inbox, -1);
	if (!inbox->waiting_count || inbox->events->lost)
		return NULL;
	json_t *first = inbox->waiting[0];
	memmove(inbox->waiting, inbox->waiting + 1, --inbox->waiting_count * sizeof inbox->waiting[0]);
	inbox->running = job_id(first);
	inbox->cancelled = false;
	return first;
}

static bool must_stop(void *context)
{
	return inbox_look(context);
}

struct process_watch inbox_watch(struct inbox *inbox)
{
	return (struct process_watch){
		.inputs = { inbox->input, inbox->signals },
		.output = inbox->events->descriptor,
		.look = must_stop,
		.context = inbox,
	};
}
