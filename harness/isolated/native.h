/* The native part of the isolated engine, which judge and contestant share: a page with a doorbell,
 *frames on a socket, memory that two processes map, and probes of an output. docs/judge.md says
 *what the engine promises and why.
 *
 *	judge       trusted: seeds, inputs, reference, clock, verdict
 *	contestant  a process with a submission in it. Every byte that comes from it is hostile.
 *
 * It needs nothing but the C library. The CUDA driver and NVML are bound when they are first asked
 *for, from declarations of our own (driver.h, which a test holds against the toolkit's). On the CPU
 *device all memory is a sealed memfd and everything else is the same, so the protocol is tested
 *without a GPU.
 *
 * It is compiled as C: into native.so, which Python loads with ctypes, and into the programs of
 *CUDA C++ tasks. Functions return 0, or one of enum isolated_error; isolated_why() then has a
 *sentence. Nothing here is for two threads. */
#ifndef PODIUM_ISOLATED_NATIVE_H
#define PODIUM_ISOLATED_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum isolated_error {
	ISOLATED_OK,
	ISOLATED_FAILED, /* the system or the driver refused something */
	ISOLATED_GONE,   /* the other side has closed its socket, or ended */
	ISOLATED_TIMEOUT,
	ISOLATED_VIOLATION, /* what came from the contestant breaks the protocol */
};

/* What the last call that failed had to say, as a sentence; "" if none has. */
const char *isolated_why(void);

/* ---- the page ----
 *
 * 4096 bytes in a memfd whose size is sealed. One contestant has one page. Call number n goes like
 *this:
 *
 *	judge: command, slot, cpu; armed = n; wakes           contestant: sleeps on `armed`, takes the
 *slot, makes ready who sleeps                                            what has no secret; ready
 *= n; looks at `called` all the time judge: enqueues what puts the input into the slot, last of all
 *a mark, "the head has ended"; called = n; time when the mark is there (without a head: when it
 *rang); opens the gate; looks at `done` all the time contestant: has its GPU wait for the gate,
 *calls the kernel, waits for the device, status, spec, own_ns; done = n; sleeps judge: time; probes
 *
 * The contestant can write every byte of the page at any time, so the judge believes none of it: it
 *never reads what is its own (n is in struct isolated_call), reads each of the contestant's fields
 *once, and takes `ready` and `done` only as n - 1 (not yet) or n (now); any other number is a
 *violation, as is a `done` before the bell. What else is written there has no effect on the judge.
 *It waits for no futex, only for time to pass.
 */
enum { isolated_page_bytes = 4096 };

/* The last two are for the null contestant at any time, and for each of the others until
 * ISOLATED_LOAD: the same kernel in two processes differs by about 1 us, always the same for the
 * same two (measured on an H200), so each is compared with the null contestant before anybody
 * else's code is in it. */
enum isolated_command {
	ISOLATED_CALL = 1,
	ISOLATED_LEAVE,
	ISOLATED_NOTHING, /* be done at once, without any work on the device */
	ISOLATED_EMPTY,   /* launch the empty kernel, wait for it, be done */
	/* As CALL, for an input that lies on the host: the GPU waits at its gate before the bell rings,
	 * or else the CPU would have all the time for nothing in which the GPU goes from the judge to
	 * the contestant. */
	ISOLATED_CALL_AHEAD,
	ISOLATED_COMMANDS,
};

enum isolated_status {
	ISOLATED_RETURNED,  /* the outputs lie where the spec says */
	ISOLATED_NEW_SPEC,  /* it returned something of another form than any spec: a frame SPEC follows
	                     */
	ISOLATED_RAISED,    /* a frame TEXT follows */
	ISOLATED_NO_OUTPUT, /* it returned what is no output (a frame TEXT says why) */
	ISOLATED_STATUSES,
};

struct isolated_page {
	/* the judge's; what is written and read at the same time lies in cache lines of its own */
	__attribute__((aligned(64))) uint32_t armed;
	uint32_t command, slot;
	int32_t cpu; /* on which the contestant's main thread is to run during the call; -1: on any */
	__attribute__((aligned(64))) uint32_t called;
	/* the contestant's */
	__attribute__((aligned(64))) uint32_t ready;
	__attribute__((aligned(64))) uint32_t done;
	uint32_t status, spec;
	double own_ns; /* what the contestant measured itself: shown, never believed */
};

/* The judge's: makes the page and its descriptor, which goes to the contestant. */
int isolated_page_make(struct isolated_page **page, int *descriptor);
/* The contestant's: maps the one that came. */
int isolated_page_map(int descriptor, struct isolated_page **page);
void isolated_page_unmap(struct isolated_page *page);

/* ---- the judge's side of a call ---- */

/* A piece of an output that is read at once after "done", by the copy engine where it lies on a
 * GPU. */
struct isolated_probe {
	uint64_t address; /* in the judge's mapping of the memory */
	uint32_t bytes;   /* 4096 at most */
	uint32_t is_cuda;
};

enum { isolated_most_probes = 16, isolated_most_probe_bytes = 4096 };

/* Lines of an input that come last, and where in the slot they belong: what the contestant's memory
 * has there until then is something else. */
struct isolated_withheld {
	const uint64_t *places; /* of the first byte in the slot; multiples of 16 */
	const uint8_t *lines;   /* of isolated_line_bytes, one behind the other */
	uint64_t count;
};

enum { isolated_line_bytes = 128, isolated_most_lines = 256 };

/* One for each contestant, kept from call to call; all zero but for what is asked for. */
struct isolated_call {
	struct isolated_page *page;
	int32_t socket;   /* where the end of the contestant shows; -1: nowhere */
	uint32_t number;  /* of the last call on this page, which isolated_arm counts on; 0 at first */
	uint32_t command; /* any but ISOLATED_LEAVE */
	uint32_t slot;
	int32_t cpu;          /* for the contestant's main thread; -1: any */
	int64_t limit_ns;     /* from when it is armed to "ready", and from the ring to "done" */
	const uint32_t *head; /* by isolated_head_make; the clock starts when it is head_value. NULL: it
	                         starts with the ring */
	uint32_t head_value;
	uint32_t probe_count; /* 0: none */
	const struct isolated_probe *probes;
	uint8_t *seen;              /* probe_count * isolated_most_probe_bytes, what the probes read */
	struct isolated_gate *gate; /* the contestant's; NULL: none, and nothing is withheld */
	uint32_t is_announced;      /* by isolated_announce; 0 at first */
	int64_t open_ns;  /* when it opens, from the end of the head; without a head it opens before the
	                     ring */
	int64_t least_ns; /* from when the clock starts, for which the judge waits even if "done" comes
	                   * before: what it does next finds the processor's caches as behind a call
	                   * that took so long. No part of elapsed_ns */
	struct isolated_withheld withheld;
	/* filled in, by CLOCK_MONOTONIC_RAW: */
	int64_t head_ns;    /* from the ring to the end of the head; near 0 where it had ended before. 0
	                       without a head */
	int64_t elapsed_ns; /* from the end of the head, or the ring, to "done"; 0: "done" came before
	                       the end of the head */
	int64_t probed_ns;  /* from "done" to the end of the probes */
	uint32_t status,
		spec; /* of the contestant; status is checked to be below ISOLATED_STATUSES, spec is not */
	double own_ns; /* NAN where it is no positive finite number */
};

/* Tells the contestant that a call on this slot comes, and waits until it says that it is ready.
 * Allocates what the probes need, so that nothing is allocated later. */
int isolated_arm(struct isolated_call *call);
/* The first half of that, which waits for nobody: tells the contestant that a call with this
 * command, slot and CPU comes, so that it makes ready while the judge does. isolated_arm then only
 * waits for it. */
int isolated_announce(struct isolated_call *call);

/* Rings, waits for the head, opens the gate, waits for "done", takes the time, probes. But for the
 * gate it does nothing from the ring to "done" but look; a contestant that has ended is noticed
 * within some milliseconds. */
int isolated_ring(struct isolated_call *call);

/* A word in pinned memory that the GPU writes, for struct isolated_call. It stays as long as the
 * process. */
int isolated_head_make(uint32_t **word);
/* Enqueues on a stream (a cudaStream_t as a number; 0: the legacy default stream) what writes it,
 * once all before has ended there. The value must be another one each time. */
int isolated_head_mark(uint64_t stream, uint32_t *word, uint32_t value);

/* Tells the contestant to end. Does not wait. */
void isolated_dismiss(struct isolated_page *page);

/* ---- the contestant's side ---- */

struct isolated_order {
	uint32_t command, slot;
	int32_t cpu;
	uint32_t number;
};

/* Sleeps until a call is announced; fills in what it is. ISOLATED_GONE when the judge has ended. */
int isolated_await(struct isolated_page *page, int socket, struct isolated_order *order);

/* Says that it is ready, and returns when the bell rings. */
int isolated_stand_by(struct isolated_page *page, int socket);
void isolated_done(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns);

/* Waits for all that this process has enqueued on its GPU, and says done at once: between the two
 * nothing lies that takes now longer and now less long. After an error it has not said done. Needs
 * isolated_cuda_open. */
int isolated_finish(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns);

/* ---- on which CPU a thread runs ----
 *
 * The clock of a contestant on another core goes wrong by 1 to 4 us, always the same for the same
 * core (measured on an H200): the null contestant and the entry run on one and the same, the judge
 * on another. */

/* Two CPUs of different cores, out of those that the caller may run on, at random. -1 and -1 where
 * there are fewer than three CPUs or all of them are one core: then nobody is tied to any. */
int isolated_choose_cpus(int32_t *judge, int32_t *contestants);

struct isolated_affinity {
	uint64_t cpus[16];
	uint32_t is_pinned, unused;
};

/* The calling thread to this CPU, and back to where it was. A contestant does it between await and
 * done of the calls that ask for it and not for good, or else the threads that a library starts
 * would all be born on one core. cpu -1: nothing is done. */
int isolated_pin(int32_t cpu, struct isolated_affinity *saved);
void isolated_unpin(const struct isolated_affinity *saved);

/* ---- frames: one message on a SOCK_SEQPACKET socket, always of the same size ---- */

enum {
	isolated_frame_bytes = 65536,
	isolated_most_content_bytes = isolated_frame_bytes - 16,
	isolated_most_descriptors = 4
};

enum isolated_frame_kind {
	/* from the judge */
	ISOLATED_HELLO =
		1, /* descriptors of the page and, on a GPU, of the gate; content: struct isolated_hello */
	ISOLATED_INPUTS,  /* descriptors of memories; content: what lies in them */
	ISOLATED_OUTPUTS, /* the same for a spec */
	ISOLATED_INPUT,   /* the input in one slot has another form or other scalars than before */
	/* from the contestant */
	ISOLATED_READY,  /* after HELLO: the device is open, nothing loaded; after LOAD: the submission
	                    is */
	ISOLATED_MAPPED, /* after INPUTS, OUTPUTS and INPUT */
	ISOLATED_SPEC,   /* the form of what the kernel returned */
	ISOLATED_TEXT,   /* UTF-8 for people, hostile; instead of READY or MAPPED it says why not */
	/* from the judge, once the contestant was measured without it */
	ISOLATED_LOAD, /* load the submission; READY or TEXT follows */
	ISOLATED_FRAMES,
};

struct isolated_hello {
	uint32_t version, is_cuda;
};
enum { isolated_version = 1 };

struct isolated_frame {
	uint32_t kind, length;     /* of the content */
	uint32_t descriptor_count; /* 0 from a contestant */
	uint32_t unused;
	uint8_t content[isolated_most_content_bytes];
};

/* Descriptors stay the caller's. A peer that does not read for 10 s is a timeout. */
int isolated_send(int socket, const struct isolated_frame *frame, const int *descriptors);

/* Waits for limit_ns; negative: for ever. `descriptors` NULL: none is taken, and a frame that
 * brings some is a violation, as is any of a wrong size, kind or length. Received ones are the
 * caller's to close; the rest of the array is -1. What was sent before the other side ended is
 * received first. */
int isolated_receive(int socket, struct isolated_frame *frame,
	int descriptors[isolated_most_descriptors], int64_t limit_ns);

/* ---- memory that both map ---- */

struct isolated_memory {
	uint64_t address;   /* on the device or the host; 0: none */
	uint64_t bytes;     /* as mapped: of a GPU a multiple of its granularity */
	uint64_t handle;    /* the driver's */
	int32_t descriptor; /* closed when released; -1: it was given away or imported */
	uint32_t is_cuda;
};

/* The judge's. On the host it is all zero and has its pages at once, so that no call pays for them.
 */
int isolated_memory_make(struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes);
/* The contestant's: `bytes` as the judge has them mapped. Closes the descriptor in any case. */
int isolated_memory_import(
	struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes, int descriptor);
/* One whose bytes are 0 is nothing: after it was released, or could not be made. */
void isolated_memory_release(struct isolated_memory *memory);

/* ---- the gate ----
 *
 * A contestant's GPU must not begin before its input is complete, and nobody may see the input
 * earlier than that. The judge's work and the contestant's are in different contexts, which take
 * turns on the SMs, but in what order is the driver's affair, and copy engines take no turns at
 * all. So some lines of the input, or all, come last, through memory of the host that both map: the
 * contestant's GPU waits there for the number of the call, and then puts them into the slot.
 */
struct isolated_gate;

/* The judge's: makes the gate and its descriptor, which goes to the contestant. */
int isolated_gate_make(struct isolated_gate **gate, int *descriptor);
/* The contestant's: maps the one that came, and loads the kernel that waits. */
int isolated_gate_map(int descriptor, struct isolated_gate **gate);
/* Enqueues on the legacy default stream what waits for the call of this number and makes its input
 * complete, which lies in the slot at this address. */
int isolated_gate_wait(struct isolated_gate *gate, uint32_t number, uint64_t slot);
/* Enqueues there a kernel that does nothing, once isolated_gate_map has loaded it. */
int isolated_empty_launch(void);
/* Neither is ever given back: they stay as long as the process. */

/* ---- the device ---- */

/* Binds the driver, takes the primary context of GPU 0 (as CUDA_VISIBLE_DEVICES counts), which
 * torch and the runtime use as well, and makes it the calling thread's. Whatever needs it calls it;
 * more than once does no harm. */
int isolated_cuda_open(void);

struct isolated_device_state { /* NAN, 0: the driver does not say */
	double sm_mhz, memory_mhz, temperature_c, power_w;
	uint64_t slowed_by; /* NVML's bits of clocks event reasons */
};

/* Of the GPU with this uuid ("GPU-..."), by NVML. What it does not say is NAN, 0; it fails only if
 * there is no such GPU. */
int isolated_device_look(const char *uuid, struct isolated_device_state *state);

#ifdef __cplusplus
}
#endif

#endif
