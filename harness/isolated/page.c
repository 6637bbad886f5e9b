/* The page, and the contestant's side of a call. */
#include "inside.h"

#include "driver.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(
	sizeof(struct isolated_page) <= isolated_page_bytes, "The page is larger than the page.");

int isolated_page_make(struct isolated_page **page, int *descriptor)
{
	*page = isolated_memfd_share(isolated_page_bytes, descriptor);
	return *page ? 0 : ISOLATED_FAILED;
}

int isolated_page_map(int descriptor, struct isolated_page **page)
{
	*page = isolated_memfd_map(descriptor, isolated_page_bytes);
	return *page ? 0 : ISOLATED_FAILED;
}

void isolated_page_unmap(struct isolated_page *page)
{
	if (page)
		munmap(page, isolated_page_bytes);
}

void isolated_dismiss(struct isolated_page *page)
{
	page->command = ISOLATED_LEAVE;
	/* The contestant may have left any number there; this one differs from it. */
	__atomic_store_n(
		&page->armed, __atomic_load_n(&page->armed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
	isolated_wake(&page->armed);
}

static int judge_is_gone(void)
{
	return isolated_fail(ISOLATED_GONE, "The judge has ended.");
}

/* Naps for at most 50 ms and then looks at the socket, because only the socket shows that the judge
 * has ended. The futex is not FUTEX_PRIVATE, because two processes share it. */
int isolated_await(struct isolated_page *page, int socket, struct isolated_order *order)
{
	static const struct timespec nap = { .tv_nsec = 50 * isolated_ns_per_ms };
	const uint32_t last = __atomic_load_n(&page->ready, __ATOMIC_RELAXED);
	while (__atomic_load_n(&page->armed, __ATOMIC_ACQUIRE) == last) {
		/* The judge may have armed a last call after the look above, and then ended. */
		if (isolated_hung_up(socket) && __atomic_load_n(&page->armed, __ATOMIC_ACQUIRE) == last)
			return judge_is_gone();
		if (syscall(SYS_futex, &page->armed, FUTEX_WAIT, last, &nap, NULL, 0) && errno == ENOSYS)
			return isolated_fail_errno("The page cannot be waited for");
	}
	*order = (struct isolated_order){ .command = page->command,
		.slot = page->slot,
		.cpu = page->cpu,
		.number = __atomic_load_n(&page->armed, __ATOMIC_RELAXED) };
	return 0;
}

/* Sleeps in naps, as isolated_await does, and does not spin. If no CPU is idle, Linux wakes a
 * thread on the CPU where it last ran. A thread of the submission that last ran on this CPU would
 * then have to wait for the spinning thread. */
static int sleep_until_called(struct isolated_page *page, int socket, uint32_t number)
{
	isolated_wake(&page->ready);
	for (uint32_t called; (called = __atomic_load_n(&page->called, __ATOMIC_ACQUIRE)) != number;) {
		if (isolated_hung_up(socket))
			return judge_is_gone();
		isolated_sleep_on(&page->called, called, 50 * isolated_ns_per_ms);
	}
	return 0;
}

/* Spins, because the bell rings soon: the judge is already preparing the input. After 5 ms it
 * yields, because the judge may need this core, and after 1 s it naps. */
int isolated_stand_by(struct isolated_page *page, int socket)
{
	enum {
		looks = 64,
		look_at_socket_ns = 2 * isolated_ns_per_ms,
		alone_ns = 5 * isolated_ns_per_ms,
		awake_ms = 1000
	};
	const uint32_t number = __atomic_load_n(&page->armed, __ATOMIC_RELAXED);
	const int64_t begin_ns = isolated_clock_ns();
	int64_t looked_ns = begin_ns;
	if (page->sleeps)
		isolated_clear(page->cpu);
	__atomic_store_n(&page->ready, number, __ATOMIC_RELEASE);
	if (page->sleeps)
		return sleep_until_called(page, socket, number);
	for (unsigned int look = 1; __atomic_load_n(&page->called, __ATOMIC_ACQUIRE) != number;
		 look++) {
		isolated_pause();
		if (look % looks)
			continue;
		isolated_make_way();
		const int64_t now_ns = isolated_clock_ns();
		if (now_ns - looked_ns >= look_at_socket_ns) {
			looked_ns = now_ns;
			if (isolated_hung_up(socket))
				return judge_is_gone();
		}
		if (now_ns - begin_ns >= (int64_t)awake_ms * isolated_ns_per_ms)
			isolated_sleep(50 * isolated_ns_per_us);
		else if (now_ns - begin_ns >= alone_ns)
			sched_yield();
	}
	return 0;
}

void isolated_done(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns)
{
	page->status = status;
	page->spec = spec;
	page->own_ns = own_ns;
	__atomic_store_n(
		&page->done, __atomic_load_n(&page->ready, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
	if (page->sleeps)
		isolated_wake(&page->done);
}

int isolated_finish(struct isolated_page *page, uint32_t status, uint32_t spec, double own_ns)
{
	const int rc = CUDA_DO(context_wait);
	if (!rc)
		isolated_done(page, status, spec, own_ns);
	return rc;
}
