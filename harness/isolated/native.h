/* The native part of the isolated engine, which judge and contestant share: a page with a doorbell,
 * frames on a socket, memory that two processes map, and probes of an output. docs/judge.md
 * explains what the engine promises and why.
 *
 *	judge       trusted: seeds, inputs, reference, clock, verdict
 *	contestant  a process with a submission in it. Every byte from it is hostile.
 *
 * The native part needs only the C library. The CUDA driver and NVML are bound at their first use,
 * from the declarations in driver.h. On the CPU device all memory is a memfd of sealed size and the
 * protocol is the same, so tests of the protocol need no GPU.
 *
 * Python loads the C code as native.so by ctypes; the programs of CUDA C++ tasks link it. Functions
 * return 0 or one of enum isolated_error; after an error, isolated_why() has a message. No function
 * is thread-safe. */
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
	ISOLATED_GONE,   /* the other process has closed its socket or ended */
	ISOLATED_TIMEOUT,
	ISOLATED_VIOLATION, /* the contestant violated the protocol */
};

/* The message of the last failure; "" if there was none. */
const char *isolated_why(void);

/* ---- the page ----
 *
 * 4096 bytes in a memfd of sealed size, one page for each contestant. The head is the judge's own
 * work on the GPU before a call, such as the copy of the input. The steps of call number n:
 *
 *	judge       writes command, slot and cpu; armed = n; wakes the contestant
 *	contestant  wakes up; prepares what is no secret; ready = n; spins on `called`
 *	judge       enqueues the head, and behind it a mark; rings the bell: called = n; takes the
 *	            time when the GPU reaches the mark; opens the gate; spins on `done`
 *	            Without a head: takes the time; sends the memory with the input; opens the gate;
 *	            called = n; spins on `done`
 *	contestant  enqueues the gate; calls the kernel; waits for the device; writes status, spec and
 *	            own_ns; done = n; sleeps
 *	judge       takes the time; probes
 *
 * The contestant can write every byte of the page at any time, so the judge trusts none of them.
 * The judge never reads its own fields; n is in struct isolated_call. It polls `ready` and `done`,
 * and reads the result's fields once. `ready` and `done` must be n - 1 (not yet) or n (now). Any
 * other number is a violation, as is done = n before the bell. Nothing else on the page affects the
 * judge. With `sleeps`, the contestant wakes the judge, which looks every few milliseconds anyway.
 */
enum { isolated_page_bytes = 4096 };

/* ISOLATED_NOTHING and ISOLATED_EMPTY are for the judge's own measurements. The null contestant
 * takes them at any time, other contestants only before ISOLATED_LOAD. The same kernel steadily
 * takes up to about 1 us longer in one process than in another (measured on an H200). So before a
 * submission is loaded, the judge compares empty kernels in its process with those in the null
 * contestant's. */
enum isolated_command {
	ISOLATED_CALL = 1,
	ISOLATED_LEAVE,
	ISOLATED_NOTHING, /* say done without work on the device */
	ISOLATED_EMPTY,   /* launch the empty kernel, wait for it, say done */
	ISOLATED_COMMANDS,
};

enum isolated_status {
	ISOLATED_RETURNED,  /* the outputs are where the spec says */
	ISOLATED_NEW_SPEC,  /* the output has a new form: a frame SPEC follows */
	ISOLATED_RAISED,    /* a frame TEXT follows */
	ISOLATED_NO_OUTPUT, /* the kernel returned no output: a frame TEXT follows */
	ISOLATED_STATUSES,
};

struct isolated_page {
	/* The judge's fields. Words that one process writes while the other spins on them have their
	 * own cache lines. */
	__attribute__((aligned(64))) uint32_t armed;
	uint32_t command, slot;
	int32_t cpu; /* for the contestant's main thread during the call; -1: any */
	/* Whether both sides sleep while they wait, instead of spinning. */
	uint32_t sleeps;
	__attribute__((aligned(64))) uint32_t called;
	/* the contestant's fields */
	__attribute__((aligned(64))) uint32_t ready;
	__attribute__((aligned(64))) uint32_t done;
	uint32_t status, spec;
	double own_ns; /* the contestant's own measurement: shown, never trusted */
};

/* For the judge: makes the page and its descriptor for the contestant. */
int isolated_page_make(struct isolated_page **page, int *descriptor);
/* For the contestant: maps the page of this descriptor. */
int isolated_page_map(int descriptor, struct isolated_page **page);
void isolated_page_unmap(struct isolated_page *page);

/* ---- the judge's side of a call ---- */

/* A piece of an output that the judge reads directly after "done", by the copy engine if it is on a
 * GPU. */
struct isolated_probe {
	uint64_t address; /* in the judge's mapping of the memory */
	uint32_t bytes;   /* 4096 at most */
	uint32_t is_cuda;
};

enum { isolated_most_probes = 16, isolated_most_probe_bytes = 4096 };

/* The withheld lines of an input, and their places in the slot. The slot holds decoys there until
 * the gate opens. */
struct isolated_withheld {
	const uint64_t *places; /* offsets of the lines in the slot; multiples of 16 */
	const uint8_t *lines;   /* isolated_line_bytes each, without gaps */
	uint64_t count;
};

enum { isolated_line_bytes = 128, isolated_most_lines = 256 };

/* The judge keeps one for each contestant from call to call. Set all fields that are not used to
 * zero. */
struct isolated_call {
	struct isolated_page *page;
	int32_t socket;   /* shows the end of the contestant; -1: none */
	uint32_t number;  /* of the last call on this page; isolated_arm increments it; 0 at first */
	uint32_t command; /* any but ISOLATED_LEAVE */
	uint32_t slot;
	int32_t cpu; /* for the contestant's main thread; -1: any */
	/* On the CPU device: both sides sleep while they wait, because a spinning judge would take a
	 * core from a submission with threads. */
	uint32_t sleeps;
	/* Limits the sum of a call's waits: from the announcement to "ready", for frames that the
	 * caller awaits in between, and from the bell to "done". */
	int64_t limit_ns;
	int64_t waited_ns; /* the used part of limit_ns; isolated_announce sets it to zero */
	/* From isolated_head_make. The clock starts when the word is head_value; NULL: no head, and
	 * the clock starts at the bell. */
	const uint32_t *head;
	uint32_t head_value;
	uint32_t probe_count; /* 0: none */
	const struct isolated_probe *probes;
	uint8_t *seen; /* receives the probes' bytes; room for isolated_most_probe_bytes each */
	struct isolated_gate *gate; /* of the contestant; NULL: none, and no withheld lines */
	uint32_t is_announced;      /* set by isolated_announce; 0 at first */
	int64_t announced_ns;       /* set by isolated_announce; 0 after `handed` was handed over */
	/* From the end of the head to the opening of the gate. Without a head the gate opens before the
	 * bell. */
	int64_t open_ns;
	/* The judge probes no earlier than this after the start of the clock, even if "done" comes
	 * sooner. The judge's caches are then as cold as after a call of this length. elapsed_ns does
	 * not include the wait. */
	int64_t least_ns;
	struct isolated_withheld withheld;
	/* The input on the host, in memory that the contestant gets after the clock has started. With a
	 * head, the judge sends the memory just before the gate opens; without, just before the bell.
	 * NULL: none */
	const struct isolated_memory *handed;
	/* the results, from CLOCK_MONOTONIC_RAW: */
	int64_t ready_ns; /* from the announcement to "ready" */
	/* From the bell to the end of the head; 0 without a head. */
	int64_t head_ns;
	/* From the end of the head to "done"; 0 if "done" came first. Without a head: from the bell to
	 * "done". */
	int64_t elapsed_ns;
	int64_t probed_ns; /* how long the probes took */
	/* From the contestant: status is below ISOLATED_STATUSES, spec is unchecked. */
	uint32_t status, spec;
	double own_ns; /* NAN unless it is positive and finite */
};

/* Announces a call, unless isolated_announce did, and waits until the contestant is ready. Also
 * allocates memory for the probes, so that nothing is allocated during the call. */
int isolated_arm(struct isolated_call *call);
/* Announces a call with this command, slot and CPU, without a wait, so that the contestant gets
 * ready while the judge works. isolated_arm must follow. */
int isolated_announce(struct isolated_call *call);

/* Rings, waits for the head, hands over `handed`, opens the gate, waits for "done", takes the time
 * and probes. Spins while it waits, unless the call sleeps; after 100 ms it naps. Notices the end
 * of a contestant within a few milliseconds. */
int isolated_ring(struct isolated_call *call);

/* Finishes a call of the null contestant that timed out, so that another can follow. Waits for
 * "ready" and "done", limit_ns in all. Does nothing if the last call is done. Ignores the call's
 * result; frames that the contestant sent are left on the socket. */
int isolated_resume(struct isolated_call *call);

/* Makes the `head` of struct isolated_call: a word in pinned memory that the GPU writes. It is
 * never freed. */
int isolated_head_make(uint32_t **word);
/* Enqueues a write of the word on a stream, behind all earlier work there. `stream`: a cudaStream_t
 * as a number; 0: the legacy default stream. The value must differ from the last one. */
int isolated_head_mark(uint64_t stream, uint32_t *word, uint32_t value);

/* Tells the contestant to end, without waiting for it. */
void isolated_dismiss(struct isolated_page *page);

/* ---- the contestant's side ---- */

struct isolated_order {
	uint32_t command, slot;
	int32_t cpu;
	uint32_t number;
};

/* Sleeps until a call is announced, and fills in the order. ISOLATED_GONE if the judge has ended.
 */
int isolated_await(struct isolated_page *page, int socket, struct isolated_order *order);

/* Says ready and returns when the bell rings. Spins, unless the call sleeps. */
int isolated_stand_by(struct isolated_page *page, int socket);
/* Waits for the input's memory, which the judge sends just before the bell or after it. Maps it at
 * the addresses that isolated_memory_reserve has reserved in `memory`. */
int isolated_take_over(int socket, const struct isolated_memory *memory);
/* Says done with this result. */
void isolated_done(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns);

/* Waits for all work of this process on its GPU, then says done. One function does both, so that no
 * varying time lies between them. Does not say done after an error. Needs isolated_cuda_open. */
int isolated_finish(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns);

/* ---- CPU affinity ----
 *
 * The same call takes 1 to 4 us longer on one core than on another, steadily (measured on an H200).
 * So the null contestant and the submission share a core, and the judge uses another. */

/* Chooses two of the caller's CPUs on different cores, the least busy of a few random ones: a
 * program that shares a CPU with judge or contestant makes times up to twice as long. Spins on each
 * for 8 ms. Both are -1, and no thread is bound, with fewer than three CPUs or only one core. */
int isolated_choose_cpus(int32_t *judge, int32_t *contestants);
/* Chooses the least busy of a few random CPUs for a judge and a contestant that sleep while they
 * wait. Only one of the two works at a time, so both can use this CPU, and then no other program
 * has to leave a CPU before the second one can run. -1 if there is one CPU. */
int isolated_choose_cpu(int32_t *both);

struct isolated_affinity {
	uint64_t cpus[16];
	uint32_t is_pinned, unused;
};

/* isolated_pin binds the calling thread to this CPU (-1: does nothing). isolated_unpin restores the
 * thread's earlier CPUs. A contestant is bound only during calls. Otherwise threads that a library
 * starts would inherit the binding and share one core. */
int isolated_pin(int32_t cpu, struct isolated_affinity *saved);
void isolated_unpin(const struct isolated_affinity *saved);

/* ---- frames: messages of fixed size on a SOCK_SEQPACKET socket ---- */

enum {
	isolated_frame_bytes = 65536,
	isolated_most_content_bytes = isolated_frame_bytes - 16,
	isolated_most_descriptors = 4
};

enum isolated_frame_kind {
	/* from the judge */
	/* Descriptors of the page and, on a GPU, of the gate; content: struct isolated_hello. */
	ISOLATED_HELLO = 1,
	ISOLATED_INPUTS,  /* descriptors of a case's memory for inputs; content: its layout */
	ISOLATED_OUTPUTS, /* the same for the outputs of a spec, a form of output */
	ISOLATED_INPUT,   /* the input in one slot has a new form */
	/* from the contestant */
	ISOLATED_READY,  /* after HELLO: the device is open; after LOAD: the submission is loaded */
	ISOLATED_MAPPED, /* the answer to INPUTS, OUTPUTS, INPUT and ROOM */
	ISOLATED_SPEC,   /* the form of the kernel's output */
	ISOLATED_TEXT,   /* hostile UTF-8: why a call, or the frame that needs an answer, failed */
	/* from the judge, after measuring the contestant without a submission */
	ISOLATED_LOAD, /* load the submission; READY or TEXT follows */
	/* from the judge: a descriptor of device memory, where the inputs of all cases will lie */
	ISOLATED_ROOM,
	/* from the judge to a launcher or a builder (harness/sealed/launch.h); MAPPED or TEXT follows
	 */
	ISOLATED_PLACE,
	ISOLATED_PLAN,
	ISOLATED_BUILD, /* from the judge to a builder: make the plan; BUILT follows */
	ISOLATED_BUILT, /* from a builder, with a descriptor if there is a plan */
	ISOLATED_TRACE, /* from the judge to a launcher; MAPPED or TEXT follows */
	ISOLATED_FRAMES,
};

struct isolated_hello {
	uint32_t version, is_cuda;
};
enum { isolated_version = 2 };

struct isolated_frame {
	uint32_t kind, length;     /* of the content */
	uint32_t descriptor_count; /* 0 from a contestant, except for BUILT */
	uint32_t unused;
	uint8_t content[isolated_most_content_bytes];
};

/* The caller keeps the descriptors. ISOLATED_TIMEOUT if the peer does not read for 10 s. */
int isolated_send(int socket, const struct isolated_frame *frame, const int *descriptors);

/* Waits for limit_ns; a negative limit means no limit. A frame of a wrong size, kind or length is a
 * violation. If `descriptors` is NULL, so is a frame with descriptors. The caller closes received
 * descriptors; the rest of the array is -1. Returns ISOLATED_GONE only after all frames that the
 * other process sent before its end. */
int isolated_receive(int socket, struct isolated_frame *frame,
	int descriptors[isolated_most_descriptors], int64_t limit_ns);

/* ---- memory that both processes map ---- */

struct isolated_memory {
	uint64_t address;   /* on the device or the host; 0: none */
	uint64_t bytes;     /* as mapped; on a GPU a multiple of its granularity */
	uint64_t handle;    /* the driver's */
	int32_t descriptor; /* closed by the release; -1: given away or imported */
	uint32_t is_cuda;
};

/* For the judge. Host memory is zero, and its pages exist, so that no call includes page faults. */
int isolated_memory_make(struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes);
/* For the contestant: maps `bytes` bytes of the judge's memory. Always closes the descriptor. */
int isolated_memory_import(
	struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes, int descriptor);
/* For the contestant: reserves addresses on the host, where isolated_take_over maps memory. Reading
 * there before that raises a signal. */
int isolated_memory_reserve(struct isolated_memory *memory, uint64_t bytes);
/* Does nothing if memory->bytes is 0, as after a release or a failure. The judge empties host
 * memory when it releases it, so a contestant that keeps the memory mapped uses up none. */
void isolated_memory_release(struct isolated_memory *memory);

/* ---- the gate ----
 *
 * The contestant's kernels must not start before the input is complete, and nothing may read the
 * input earlier. The driver's switch from the judge's context to the contestant's ensures neither:
 * copy engines do not wait for it. So the judge withholds some lines of the input, or all, and
 * sends them through host memory that both processes map. A kernel in the contestant waits there
 * for the number of the call and then copies the lines into the slot.
 */
struct isolated_gate;

/* For the judge: makes the gate and its descriptor for the contestant. */
int isolated_gate_make(struct isolated_gate **gate, int *descriptor);
/* For the contestant: maps the gate of this descriptor and loads the waiting kernel. */
int isolated_gate_map(int descriptor, struct isolated_gate **gate);
/* Enqueues a kernel on the legacy default stream. The kernel waits until the judge opens the gate
 * for the call of this number, and completes the input in the slot at this address. */
int isolated_gate_wait(struct isolated_gate *gate, uint32_t number, uint64_t slot);
/* Enqueues on the same stream a kernel that does nothing. isolated_gate_map loads it. */
int isolated_empty_launch(void);
/* Gate and kernels are never freed. */

/* ---- the device ---- */

/* Binds the driver, and makes the primary context of GPU 0 (as CUDA_VISIBLE_DEVICES counts) current
 * for the calling thread. torch and the runtime use the same context. Repeated calls do no harm. */
int isolated_cuda_open(void);

struct isolated_device_state { /* NAN and 0: unknown */
	double sm_mhz, memory_mhz, temperature_c, power_w;
	uint64_t slowed_by; /* NVML's bits of clocks event reasons */
};

/* Asks NVML about the GPU with this uuid ("GPU-..."). Fails only if NVML or the GPU is missing. */
int isolated_device_look(const char *uuid, struct isolated_device_state *state);

#ifdef __cplusplus
}
#endif

#endif
