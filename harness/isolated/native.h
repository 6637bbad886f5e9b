/* The native part of the isolated engine, which judge and contestant share: a page with a doorbell, frames on a socket,
 * memory that two processes map, and probes of an output. docs/judge.md says what the engine promises and why.
 *
 *	judge       trusted: seeds, inputs, reference, clock, verdict
 *	contestant  a process with a submission in it. Every byte that comes from it is hostile.
 *
 * It needs nothing but the C library. The CUDA driver and NVML are bound when they are first asked for, from
 * declarations of our own (cuda.h, which a test holds against the toolkit's). On the CPU device all memory is a sealed
 * memfd and everything else is the same, so the protocol is tested without a GPU.
 *
 * It is compiled as C: into native.so, which Python loads with ctypes, and into the programs of CUDA C++ tasks.
 * Functions return 0, or one of enum isolated_error; isolated_why() then has a sentence. Nothing here is for two threads. */
#ifndef PODIUM_ISOLATED_NATIVE_H
#define PODIUM_ISOLATED_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum isolated_error {
	ISOLATED_OK,
	ISOLATED_FAILED,    /* the system or the driver refused something */
	ISOLATED_GONE,      /* the other side has closed its socket, or ended */
	ISOLATED_TIMEOUT,
	ISOLATED_VIOLATION, /* what came from the contestant breaks the protocol */
};

/* What the last call that failed had to say, as a sentence; "" if none has. */
const char *isolated_why(void);

/* ---- the page ----
 *
 * 4096 bytes in a memfd whose size is sealed. One contestant has one page. A call goes like this:
 *
 *	judge: slot, command; armed = n; wakes who sleeps     contestant: sleeps on `armed`, takes the slot, makes ready
 *	                                                      what has no secret; ready = n; looks at `called` all the time
 *	judge: puts the input into the slot
 *	judge: time; called = n; looks at `done` all the time
 *	                                                      contestant: calls the kernel, waits for the device,
 *	                                                      status, spec, own_ns; done = n; sleeps
 *	judge: time; probes
 */
enum { isolated_page_bytes = 4096 };

enum isolated_command { ISOLATED_CALL = 1, ISOLATED_LEAVE };

enum isolated_status {
	ISOLATED_RETURNED,  /* the outputs lie where the spec says */
	ISOLATED_NEW_SPEC,  /* it returned something of another form than any spec: a frame SPEC follows */
	ISOLATED_RAISED,    /* a frame TEXT follows */
	ISOLATED_NO_OUTPUT, /* it returned what is no output (a frame TEXT says why) */
	ISOLATED_STATUSES,
};

struct isolated_page {
	/* the judge's */
	_Alignas(64) uint32_t armed;
	uint32_t command, slot;
	_Alignas(64) uint32_t called;
	/* the contestant's */
	_Alignas(64) uint32_t ready;
	_Alignas(64) uint32_t done;
	uint32_t status, spec;
	double own_ns;        /* what the contestant measured itself: shown, never believed */
};

/* The judge's: makes the page and its descriptor, which goes to the contestant. */
int isolated_page_make(struct isolated_page **page, int *descriptor);
/* The contestant's: maps the one that came. */
int isolated_page_map(int descriptor, struct isolated_page **page);
void isolated_page_unmap(struct isolated_page *page);

/* ---- the judge's side of a call ---- */

/* A piece of an output that is read at once after "done", by the copy engine where it lies on a GPU. */
struct isolated_probe {
	uint64_t address;     /* in the judge's mapping of the memory */
	uint32_t bytes;       /* 4096 at most */
	uint32_t is_cuda;
};

enum { isolated_most_probes = 16, isolated_most_probe_bytes = 4096 };

struct isolated_call {
	struct isolated_page *page;
	int socket;           /* where the end of the contestant shows */
	uint32_t slot;
	int64_t limit_ns;     /* for the call */
	const struct isolated_probe *probes;
	uint32_t probe_count; /* 0: none */
	uint8_t *seen;        /* probe_count * isolated_most_probe_bytes, what the probes read */
	/* filled in: */
	int64_t elapsed_ns;   /* from the ring to "done", by CLOCK_MONOTONIC_RAW */
	int64_t probed_ns;    /* from "done" to the end of the probes */
	uint32_t status, spec;/* of the contestant; checked to be below ISOLATED_STATUSES */
	double own_ns;        /* NAN where it is no positive finite number */
};

/* Tells the contestant that a call on this slot comes, and waits until it says that it is ready. */
int isolated_arm(struct isolated_call *call);

/* Rings, waits for "done", takes the time, probes. Between the ring and "done" it does nothing but look; a contestant
 * that has ended is noticed within some milliseconds. */
int isolated_ring(struct isolated_call *call);

/* Tells the contestant to end. Does not wait. */
void isolated_dismiss(struct isolated_page *page);

/* ---- the contestant's side ---- */

/* Sleeps until a call is announced; fills in what it is. ISOLATED_GONE when the judge has ended. */
int isolated_await(struct isolated_page *page, int socket, uint32_t *command, uint32_t *slot);

/* Says that it is ready, and returns when the bell rings. */
int isolated_stand_by(struct isolated_page *page, int socket);
void isolated_done(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns);

/* ---- frames: one message on a SOCK_SEQPACKET socket, always of the same size ---- */

enum { isolated_frame_bytes = 65536, isolated_most_content_bytes = isolated_frame_bytes - 16, isolated_most_descriptors = 4 };

enum isolated_frame_kind {
	/* from the judge */
	ISOLATED_HELLO = 1, /* the page's descriptor; content: struct isolated_hello */
	ISOLATED_INPUTS,    /* descriptors of memories; content: what lies in them */
	ISOLATED_OUTPUTS,   /* the same for a spec */
	ISOLATED_INPUT,     /* the input in one slot has another form or other scalars than before */
	/* from the contestant */
	ISOLATED_READY,     /* after HELLO: the submission is loaded */
	ISOLATED_MAPPED,    /* after INPUTS, OUTPUTS and INPUT */
	ISOLATED_SPEC,      /* the form of what the kernel returned */
	ISOLATED_TEXT,      /* UTF-8 for people, hostile; instead of READY or MAPPED it says why not */
};

struct isolated_hello { uint32_t version, is_cuda; };
enum { isolated_version = 1 };

struct isolated_frame {
	uint32_t kind, length;       /* of the content */
	uint32_t descriptor_count;   /* 0 from a contestant */
	uint32_t unused;
	uint8_t content[isolated_most_content_bytes];
};

/* Descriptors stay the caller's. */
int isolated_send(int socket, const struct isolated_frame *frame, const int *descriptors);

/* `descriptors` NULL: none is taken, and a frame that brings some, as any of a wrong size or length, is a violation.
 * Received ones are the caller's to close. */
int isolated_receive(int socket, struct isolated_frame *frame, int descriptors[isolated_most_descriptors], int64_t limit_ns);

/* ---- memory that both map ---- */

struct isolated_memory {
	uint64_t address;   /* on the device or the host; 0: none */
	uint64_t bytes;     /* as mapped: of a GPU a multiple of its granularity */
	uint64_t handle;    /* the driver's */
	int32_t descriptor; /* -1: it was given away or imported */
	uint32_t is_cuda;
};

int isolated_memory_make(struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes);
int isolated_memory_import(struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes, int descriptor); /* closes it */
void isolated_memory_release(struct isolated_memory *memory);

/* ---- the device ---- */

/* Binds the driver and takes the primary context of GPU 0 (as CUDA_VISIBLE_DEVICES counts), which torch and the
 * runtime use as well. */
int isolated_cuda_open(void);

struct isolated_device_state { /* NAN, 0: the driver does not say */
	double sm_mhz, memory_mhz, temperature_c, power_w;
	uint64_t slowed_by;   /* NVML's bits of clocks event reasons */
};

/* Of the GPU with this uuid ("GPU-..."), by NVML. */
int isolated_device_look(const char *uuid, struct isolated_device_state *state);

#ifdef __cplusplus
}
#endif

#endif
