#include "worker/run/sandbox/filter.h"

#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* Refuses a call with `error` if (argument number `argument` & mask) is `value`. If `argument` is
 * -1, always refuses the call. Rules name calls by text, so that an older libseccomp can skip a
 * call that it does not know. */
struct rule {
	const char *call;
	int error;
	int argument;
	uint64_t mask, value;
};

#define ALWAYS(name, error) \
	{ \
		name, error, -1, 0, 0 \
	}
#define NEVER(name) ALWAYS(name, EPERM)

static const struct rule RULES[] = {
	/* Calls that reach other processes. */
	NEVER("ptrace"),
	NEVER("process_vm_readv"),
	NEVER("process_vm_writev"),
	NEVER("process_madvise"),
	NEVER("pidfd_getfd"),
	NEVER("kcmp"),
	NEVER("process_mrelease"),
	/* Large parts of the kernel that no submission needs. The C library and others work without
	 * io_uring. */
	NEVER("bpf"),
	NEVER("perf_event_open"),
	NEVER("userfaultfd"),
	NEVER("fanotify_init"),
	/* inotify would report when a program in another sandbox opens or runs a file that this sandbox
	 * also shows. */
	NEVER("inotify_add_watch"),
	NEVER("lookup_dcookie"),
	ALWAYS("io_uring_setup", ENOSYS),
	ALWAYS("io_uring_enter", ENOSYS),
	ALWAYS("io_uring_register", ENOSYS),
	ALWAYS("memfd_secret", ENOSYS),
	/* Calls for keys, which belong to a user and not to a namespace. */
	NEVER("keyctl"),
	NEVER("add_key"),
	NEVER("request_key"),
	/* Calls that change the file system's layout. */
	NEVER("mount"),
	NEVER("umount"),
	NEVER("umount2"),
	NEVER("pivot_root"),
	NEVER("chroot"),
	NEVER("move_mount"),
	NEVER("open_tree"),
	NEVER("fsopen"),
	NEVER("fsconfig"),
	NEVER("fsmount"),
	NEVER("fspick"),
	NEVER("mount_setattr"),
	NEVER("name_to_handle_at"),
	NEVER("open_by_handle_at"),
	NEVER("quotactl"),
	NEVER("quotactl_fd"),
	NEVER("swapon"),
	NEVER("swapoff"),
	{ "mknod", EPERM, 1, S_IFMT, S_IFCHR },
	{ "mknod", EPERM, 1, S_IFMT, S_IFBLK },
	{ "mknodat", EPERM, 2, S_IFMT, S_IFCHR },
	{ "mknodat", EPERM, 2, S_IFMT, S_IFBLK },
	/* New namespaces give an ordinary user rights that the kernel checks in many places. A filter
	 * cannot read clone3's flags behind a pointer, so the C library must fall back to clone. */
	NEVER("setns"),
	NEVER("unshare"),
	ALWAYS("clone3", ENOSYS),
	{ "clone", EPERM, 0, CLONE_NEWNS, CLONE_NEWNS },
	{ "clone", EPERM, 0, CLONE_NEWUSER, CLONE_NEWUSER },
	{ "clone", EPERM, 0, CLONE_NEWPID, CLONE_NEWPID },
	{ "clone", EPERM, 0, CLONE_NEWNET, CLONE_NEWNET },
	{ "clone", EPERM, 0, CLONE_NEWIPC, CLONE_NEWIPC },
	{ "clone", EPERM, 0, CLONE_NEWUTS, CLONE_NEWUTS },
	{ "clone", EPERM, 0, CLONE_NEWCGROUP, CLONE_NEWCGROUP },
	/* Calls that change the machine. */
	NEVER("init_module"),
	NEVER("finit_module"),
	NEVER("delete_module"),
	NEVER("kexec_load"),
	NEVER("kexec_file_load"),
	NEVER("reboot"),
	NEVER("acct"),
	NEVER("syslog"),
	NEVER("vhangup"),
	NEVER("settimeofday"),
	NEVER("clock_settime"),
	NEVER("clock_adjtime"),
	NEVER("adjtimex"),
	NEVER("iopl"),
	NEVER("ioperm"),
	NEVER("modify_ldt"),
	NEVER("sethostname"),
	NEVER("setdomainname"),
	NEVER("uselib"),
	NEVER("nfsservctl"),
	NEVER("sysfs"),
	NEVER("ustat"),
	NEVER("_sysctl"),
	/* Commands that type into a terminal, lease a file that others use, or report what others do in
	 * a folder. */
	{ "ioctl", EPERM, 1, UINT32_MAX, TIOCSTI },
	{ "ioctl", EPERM, 1, UINT32_MAX, TIOCLINUX },
	{ "fcntl", EPERM, 1, UINT32_MAX, F_SETLEASE },
	{ "fcntl", EPERM, 1, UINT32_MAX, F_NOTIFY },
	/* A listener that answers another process's calls. */
	{ "seccomp", EPERM, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_FILTER_FLAG_NEW_LISTENER },
};

static int add_rule(scmp_filter_ctx context, const struct rule *rule)
{
	int call = seccomp_syscall_resolve_name(rule->call);
	if (call == __NR_SCMP_ERROR)
		return 0;
	struct scmp_arg_cmp compare = { rule->argument < 0 ? 0 : (unsigned int)rule->argument,
		SCMP_CMP_MASKED_EQ, rule->mask, rule->value };
	int rc = seccomp_rule_add_array(
		context, SCMP_ACT_ERRNO((unsigned int)rule->error), call, rule->argument >= 0, &compare);
	/* Harmless: a call that this architecture lacks, or another name of a known call. */
	return rc == -EDOM || rc == -EEXIST ? 0 : rc;
}

static int add_rules(scmp_filter_ctx context)
{
	int rc = 0;
	for (size_t i = 0; i < COUNT(RULES) && !rc; i++)
		rc = add_rule(context, &RULES[i]);
	return rc;
}

/* Allows only the usual execution domain: others disable address randomization or make readable
 * memory executable. */
static int add_personality(scmp_filter_ctx context)
{
	return seccomp_rule_add(
		context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1, SCMP_A0(SCMP_CMP_NE, 0));
}

static int refuse_family(scmp_filter_ctx context, int call, enum scmp_compare compare, int family)
{
	return seccomp_rule_add(
		context, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, SCMP_A0(compare, (scmp_datum_t)family));
}

/* Allows Unix sockets, and with `loopback` also Internet and netlink sockets. A filter that allows
 * calls by default cannot say "all but these". The rules therefore refuse every other family by its
 * number, and all numbers from `families` on. */
static int add_families(scmp_filter_ctx context, int call, bool loopback)
{
	enum { families = 64 }; /* the kernel has 46 */
	int rc = refuse_family(context, call, SCMP_CMP_GE, families);
	for (int family = 0; family < families && !rc; family++) {
		bool is_network = family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
		if (family != AF_UNIX && !(loopback && is_network))
			rc = refuse_family(context, call, SCMP_CMP_EQ, family);
	}
	/* NCCL needs NETLINK_ROUTE to list its network's interfaces; refuse the other protocols. */
	if (loopback && !rc)
		rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 2,
			SCMP_A0(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2(SCMP_CMP_NE, NETLINK_ROUTE));
	return rc;
}

static int add_sockets(scmp_filter_ctx context, bool loopback)
{
	int rc = add_families(context, SCMP_SYS(socket), loopback);
	return rc ? rc : add_families(context, SCMP_SYS(socketpair), loopback);
}

/* Calls that Linux has gained since Debian 12's 6.1 answer "no such call", as they do there, so
 * programs use older calls. These rules work by number, because libseccomp can neither compare
 * numbers nor name calls that are newer than itself. From 424 on, all architectures share their
 * numbers. On x86-64, new calls may also fill the gap below 424. Source: the kernel's
 * syscall_64.tbl. */
enum {
	newest_call = 450,       /* set_mempolicy_home_node, Linux 5.17 */
	newest_before_gap = 336, /* uprobe, which only the kernel's own code calls */
	first_behind_gap = 424,
	first_x32 = 0x40000000, /* libseccomp's rules end a program with x32 calls */
};

enum { NEWER_RULES = 8 };

static void write_newer_rules(struct sock_filter rules[static NEWER_RULES])
{
	const struct sock_filter all[NEWER_RULES] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_x32, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, newest_call, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_behind_gap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, newest_before_gap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	memcpy(rules, all, sizeof all);
}

/* The kernel takes the filter as an array, but the library writes it to a file. All jumps are
 * relative, so other rules can precede the library's. */
static int export_filter(scmp_filter_ctx context, struct sandbox_entry *entry)
{
	struct sock_filter *rest = entry->instructions + NEWER_RULES;
	const size_t most_bytes = sizeof entry->instructions - NEWER_RULES * sizeof *rest;
	cleanup_fd int file = memfd_create("filter", MFD_CLOEXEC);
	int rc = file < 0 ? -errno : seccomp_export_bpf(context, file);
	off_t length = rc ? 0 : lseek(file, 0, SEEK_END);
	if (!rc && (length <= 0 || (size_t)length > most_bytes))
		rc = -E2BIG;
	if (!rc && pread(file, rest, (size_t)length, 0) != length)
		rc = -EIO;
	write_newer_rules(entry->instructions);
	entry->instruction_count = rc ? 0 : (uint32_t)((size_t)length / sizeof *rest) + NEWER_RULES;
	return rc;
}

int sandbox_filter(struct sandbox_entry *entry, bool loopback, struct error *error)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int rc = context ? 0 : -ENOMEM;
	/* Kill a program that uses the calls of another architecture (i386 and x32 on x86-64). These
	 * calls have other numbers, which no rule here matches. */
	if (!rc)
		rc = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!rc && !(rc = add_rules(context)) && !(rc = add_personality(context))
		&& !(rc = add_sockets(context, loopback)))
		rc = export_filter(context, entry);
	seccomp_release(context);
	return rc
		? fail(error, ERROR_SYSTEM, "Cannot build the filter of system calls: %s.", strerror(-rc))
		: 0;
}
