/* The parts of the sandbox that can be tested without one: the node of a GPU, the memory of a
 * process, the system calls that the filter refuses, and the end of a raised priority. */
#include "worker/run/sandbox/device.h"
#include "worker/run/sandbox/filter.h"
#include "worker/run/sandbox/priority.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/watchdog.h"

#include "lib/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* What driver 580 writes about a GPU in /proc/driver/nvidia/gpus. */
static const char INFORMATION[] =
	"Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t "
	"GPU-ee313527-c407-5a04-a2d4-10baf3084d3c\nVideo BIOS: \t 96.00.a5.00.1a\n"
	"Bus Type: \t PCIe\nDMA Size: \t 52 bits\nBus Location: \t 0000:00:06.0\nDevice Minor: \t "
	"3\nGPU Excluded:\t No\n";

static int minor_of(const char *information, const char *uuid)
{
	return sandbox_device_minor(information, uuid, strlen(uuid));
}

static void the_drivers_text_gives_the_node_of_a_gpu(void **state)
{
	(void)state;
	assert_int_equal(minor_of(INFORMATION, "GPU-ee313527-c407-5a04-a2d4-10baf3084d3c"), 3);
	assert_int_equal(minor_of(INFORMATION, "GPU-00000000-c407-5a04-a2d4-10baf3084d3c"), -1);
	assert_int_equal(minor_of(INFORMATION, "GPU-ee313527"), -1);
	assert_int_equal(minor_of(INFORMATION, "GPU-ee313527-c407-5a04-a2d4-10baf3084d3c0"), -1);
	assert_int_equal(minor_of("GPU UUID: \t GPU-??????\nDevice Minor: \t 0\n", "GPU-ee313527"), -1);
	assert_int_equal(minor_of("GPU UUID: \t GPU-1\n", "GPU-1"), -1);
	assert_int_equal(minor_of("", "GPU-1"), -1);
	/* A job on several GPUs has their UUIDs in one text. */
	assert_int_equal(
		sandbox_device_minor(INFORMATION, "GPU-ee313527-c407-5a04-a2d4-10baf3084d3c,GPU-2", 40), 3);
}

static void without_a_gpu_there_is_no_node(void **state)
{
	(void)state;
	const char *names[sandbox_most_devices];
	struct arena *arena = arena_new();
	assert_int_equal(sandbox_devices(arena, "", false, names), 0);
	assert_int_equal(sandbox_devices(arena, NULL, true, names), 0);
	arena_free(arena);
}

static void memory_and_threads_are_read_from_proc(void **state)
{
	(void)state;
	struct watchdog_share share;
	watchdog_read_share("Name:\tRssAnon: 9\nVmRSS:\t  300 kB\nRssAnon:\t     100 kB\nRssFile:\t    "
						" 180 kB\nRssShmem:\t      20 kB\nThreads:\t7\n",
		false, &share);
	assert_int_equal(share.private_bytes, 100 * 1024);
	assert_int_equal(share.shared_bytes, 20 * 1024);
	assert_int_equal(share.threads, 7);
	watchdog_read_share("00400000-7fff ---p 00000000 00:00 0 [rollup]\nRss:  900 kB\nPss: 500 "
						"kB\nPss_Anon:  40 kB\nPss_File: 2 kB\nPss_Shmem:  5 kB\n",
		true, &share);
	assert_int_equal(share.private_bytes, 40 * 1024);
	assert_int_equal(share.shared_bytes, 5 * 1024);
	watchdog_read_share("", false, &share);
	assert_int_equal(share.private_bytes + share.shared_bytes + share.threads, 0);
}

/* Calls socket(family) in a child under the filter. Returns its errno, or 0 if it succeeded. */
static int error_of_socket(bool loopback, int family, int protocol)
{
	static struct sandbox_entry entry;
	struct error error;
	int status;
	assert_int_equal(sandbox_filter(&entry, loopback, &error), 0);
	entry.size = sizeof entry;
	pid_t pid = fork();
	if (pid == 0) {
		struct sock_fprog program = { (unsigned short)entry.instruction_count, entry.instructions };
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, 1, 0, &program))
			_exit(255);
		int made = socket(family,
			SOCK_RAW * (family == AF_NETLINK) + SOCK_STREAM * (family != AF_NETLINK), protocol);
		_exit(made < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void the_filter_allows_only_the_intended_socket_families(void **state)
{
	(void)state;
	enum { route = 0, audit = 9 };
	assert_int_equal(error_of_socket(false, AF_UNIX, 0), 0);
	assert_int_equal(error_of_socket(false, AF_INET, 0), EAFNOSUPPORT);
	assert_int_equal(error_of_socket(false, AF_NETLINK, route), EAFNOSUPPORT);
	assert_int_equal(error_of_socket(true, AF_UNIX, 0), 0);
	assert_int_equal(error_of_socket(true, AF_INET, 0), 0);
	assert_int_equal(error_of_socket(true, AF_NETLINK, route), 0);
	assert_int_equal(error_of_socket(true, AF_NETLINK, audit), EAFNOSUPPORT);
	assert_int_equal(error_of_socket(true, AF_VSOCK, 0), EAFNOSUPPORT);
}

static void a_sandbox_entry_of_another_build_is_refused(void **state)
{
	(void)state;
	static struct sandbox_entry entry;
	const int places[SANDBOX_PLACES] = { -1, -1, -1, -1, -1, -1, -1 };
	entry.size = 8;
	assert_non_null(sandbox_join(&entry, places));
}

static void *wait_for_ever(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

/* Starts a program of a timed stage, with a second thread, which writes a byte once it is there. */
static pid_t start_raised(int ready)
{
	pid_t pid = fork();
	pthread_t thread;
	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || setsid() < 0 || sandbox_set_nice(sandbox_timed_nice)
		|| pthread_create(&thread, NULL, wait_for_ever, NULL) || write(ready, "r", 1) != 1)
		_exit(1);
	wait_for_ever(NULL);
	_exit(0);
}

/* The niceness of all threads of the process, and that of its session, as one text. */
static char *nicenesses(pid_t pid, char text[static 100])
{
	char path[60], session[60] = "";
	int length = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *stream = opendir(path);
	assert_non_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));)
		if (atoi(entry->d_name))
			length += snprintf(
				text + length, 20, "%d ", getpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name)));
	closedir(stream);
	snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
	FILE *file = fopen(path, "r");
	if (file && fgets(session, sizeof session, file) && strstr(session, "nice "))
		snprintf(text + length, 20, "%d", atoi(strstr(session, "nice ") + strlen("nice ")));
	else
		snprintf(text + length, 20, "none");
	if (file)
		fclose(file);
	return text;
}

static void a_raised_priority_ends_after_a_while(void **state)
{
	(void)state;
	char byte, text[100];
	int ready[2], before = getpriority(PRIO_PROCESS, 0);
	struct priority priority;
	if (geteuid())
		skip();
	assert_int_equal(pipe(ready), 0);
	pid_t pid = start_raised(ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) /* root without CAP_SYS_NICE, as in containers */
		skip();
	close(ready[0]);
	const bool has_sessions = !strstr(nicenesses(pid, text), "none");
	assert_string_equal(text, has_sessions ? "-19 -19 -19" : "-19 -19 none");
	priority_begin(&priority, true);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), sandbox_leader_nice);
	assert_in_range(priority_wait_ms(&priority), 10000, process_most_raised_ms);
	priority_look(&priority); /* too early */
	assert_string_equal(nicenesses(pid, text), has_sessions ? "-19 -19 -19" : "-19 -19 none");
	priority.next_ms = clock_ms();
	priority_look(&priority);
	assert_string_equal(nicenesses(pid, text), has_sessions ? "0 0 0" : "0 0 none");
	assert_in_range(priority_wait_ms(&priority), 1, 1000); /* for what started meanwhile */
	priority_end(&priority);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void without_a_raised_program_nothing_is_lowered(void **state)
{
	(void)state;
	int before = getpriority(PRIO_PROCESS, 0);
	struct priority priority;
	priority_begin(&priority, false);
	assert_int_equal(priority_wait_ms(&priority), -1);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	priority_end(&priority);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_drivers_text_gives_the_node_of_a_gpu),
		cmocka_unit_test(without_a_gpu_there_is_no_node),
		cmocka_unit_test(memory_and_threads_are_read_from_proc),
		cmocka_unit_test(the_filter_allows_only_the_intended_socket_families),
		cmocka_unit_test(a_sandbox_entry_of_another_build_is_refused),
		cmocka_unit_test(a_raised_priority_ends_after_a_while),
		cmocka_unit_test(without_a_raised_program_nothing_is_lowered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
