#!/usr/bin/env python3
"""The walls of the sandbox. Programs try to break each wall, with podium-run as root and as an
ordinary user. Ordinary programs do not notice the walls. docs/sandbox.md names the test of each
wall."""

import ctypes
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
from inside import HEAD, RIGHT, TAIL, USERS, Inside, as_each_user  # noqa: E402
from processes import as_only_bomb, descendants, wait_until_gone  # noqa: E402
from runner import GPU, PROGRAM, PYTHON, Runner, cu_task, job, task  # noqa: E402
from tap import Skip, contains, equal, lacks, run, test, until  # noqa: E402
from tools import nvcc_lack, system_nvcc  # noqa: E402

libc = ctypes.CDLL(None, use_errno=True)

# ---- files ----


@test
def the_hosts_files_are_not_there():
	with tempfile.NamedTemporaryFile(prefix="podium-secret.") as secret:
		os.chmod(secret.name, 0o644)
		places = [
			"/etc/shadow",
			"/etc/ssh",
			"/etc/machine-id",
			"/root/.profile",
			"/home",
			"/var/lib",
			"/var/log",
			"/boot",
			"/run",
			"/srv",
			"/mnt",
			"/sys/fs",
			"/sys/kernel/debug",
			"/sys/class/net",
			"/proc/1/root/etc/shadow",
			secret.name,
			str(HERE),
		]
		shown = "bin dev etc job lib lib32 lib64 libx32 opt proc sbin sys tmp usr var".split()
		nvcc = system_nvcc()
		if nvcc:  # compilations see its folder, wherever it lies
			nvcc = pathlib.Path(nvcc).resolve()
			shown.append(nvcc.parts[1])
			places = [place for place in places if not nvcc.is_relative_to(place)]
		for user, inside in as_each_user():
			seen = inside.see(
				f"seen = [sorted(os.listdir('/')), [p for p in {places} if os.path.exists(p)]]"
			)
			equal(set(seen[0]) - set(shown), set())
			equal(seen[1], [])


@test
def the_settings_cannot_be_read():
	with tempfile.TemporaryDirectory(prefix="podium-show.") as folder:
		os.chmod(folder, 0o755)
		settings = pathlib.Path(folder, "podium.conf")
		settings.write_text("database_password = secret")
		settings.chmod(0o644)
		body = f"seen = [open({str(settings)!r}).read(), attempt(lambda: os.listdir({folder!r}))]"
		for user, inside in as_each_user(
			"--show", folder, environment={"PODIUM_CONFIG": str(settings)}
		):
			equal(inside.see(body), ["", "done"])
		for user, inside in as_each_user("--show", folder):
			contains(inside.see(body)[0], "secret")


@test
def the_root_is_read_only():
	places = [
		"/new",
		"/usr/new",
		"/usr/lib/new",
		"/etc/new",
		"/etc/passwd",
		"/etc/ld.so.preload",
		"/dev/new",
		"/dev/null/new",
		"/job/new",
		"/job/test/new",
		"/job/test/cases.txt",
		"/sys/new",
		"/proc/new",
		PYTHON,
		json.__file__,
		"/usr/lib/python3/dist-packages/new.pth",
	]
	for user, inside in as_each_user():
		seen = inside.see(f"seen = [[p, attempt(lambda: open(p, 'a'))] for p in {places}]")
		equal([place for place, outcome in seen if outcome == "done"], [])


@test
def the_harness_and_the_submission_cannot_be_changed_or_replaced():
	body = """
acts = {
    'write': lambda: open('eval.py', 'r+'),
    'truncate': lambda: open('submission.py', 'w'),
    'remove': lambda: os.remove('eval.py'),
    'rename': lambda: os.rename('submission.py', 'x'),
    'replace': lambda: (open('y', 'w'), os.rename('y', 'eval.py')),
    'rename the folder of data': lambda: os.rename('data', 'other'),
    'write data': lambda: open('data/deep/table.txt', 'w'),
    'add data': lambda: open('data/deep/new', 'w'),
    'mode': lambda: os.chmod('eval.py', 0o777),
    'rename run': lambda: os.rename('../run', '../walk'),
    'another run': lambda: os.mkdir('../other'),
    'cases': lambda: open('../cases.txt', 'a'),
    'link': lambda: os.link('eval.py', 'z'),
    'times': lambda: os.utime('eval.py'),
    'remove the stage': lambda: os.rmdir('../../test'),
    'exchange': lambda: libc.renameat2 and (open('y', 'w'),
        call(316, -100, b'y', -100, b'eval.py', 2) == 'done' or os.stat('/nonexistent')),
}
seen = {what: attempt(act) for what, act in acts.items()}
seen['new'] = attempt(lambda: open('new', 'w').write('x'))
seen['left'] = [open('data/deep/table.txt').read(), os.path.exists('eval.py'),
    os.path.exists('../cases.txt')]
"""
	for user, inside in as_each_user():
		seen = inside.see(body, files=[{"path": "data/deep/table.txt", "text": "1"}])
		equal((seen.pop("left"), seen.pop("new")), (["1", True, True], "done"))
		equal([what for what, outcome in seen.items() if outcome == "done"], [])


@test
def no_path_of_the_host_shows():
	for user, inside in as_each_user():
		result = inside.runner.run(
			"def answer(case): raise KeyError(case)\n",
			HEAD + "import submission\nsubmission.answer('x')\n",
		)
		contains(result.log("stderr"), '"/job/test/run/submission.py"')
		lacks(json.dumps(result.events), inside.runner.directory)


@test
def what_the_operator_names_can_be_read():
	with tempfile.TemporaryDirectory(prefix="podium-show.") as folder:
		os.chmod(folder, 0o755)
		pathlib.Path(folder, "weights").write_text("7")
		body = (
			f"seen = [open({folder + '/weights'!r}).read(), attempt(lambda: "
			f"open({folder + '/weights'!r}, 'w')), attempt(lambda: "
			f"open({folder + '/x'!r}, 'w'))]"
		)
		for user, inside in as_each_user("--show", folder + ":/nonexistent"):
			equal(inside.see(body)[0], "7")
			assert "done" not in inside.see(body)[1:]
	for path, words in (
		("/etc", "/etc of the host cannot be shown"),
		("/", "cannot be shown"),
		("weights", "must begin with"),
	):
		done = subprocess.run(
			[PROGRAM, "--show", f"/usr:{path}"],
			stdin=subprocess.DEVNULL,
			capture_output=True,
			text=True,
		)
		equal(done.returncode, 1)
		contains(done.stderr, words)


# ---- disk ----


@test
def the_disk_cannot_be_filled():
	body = """
def fill(folder):
    written = 0
    try:
        with open(folder + '/large', 'wb', buffering=0) as file:
            while written < 1 << 28: written += file.write(bytes(1 << 20))
    except OSError as error:
        return [name(error.errno), written]
seen = [fill(os.environ['TMPDIR']), fill('/tmp')]
os.remove(os.environ['TMPDIR'] + '/large')
seen.append(fill('.'))
"""
	for user, inside in as_each_user("--disk", "16"):
		seen = inside.see(body)
		equal([reason for reason, _ in seen], ["ENOSPC"] * 3)
		assert all(written <= 16 << 20 for _, written in seen), seen
		equal(inside.see("seen = 1"), 1)


@test
def the_inodes_cannot_be_used_up():
	body = (
		"made = 0\n"
		"def make():\n"
		"    global made\n"
		"    while made < 1000000:\n"
		"        os.mknod(f'{made}')\n"
		"        made += 1\n"
		"seen = [attempt(make), made]\n"
	)
	for user, inside in as_each_user():
		reason, made = inside.see(body)
		equal(reason, "ENOSPC")
		assert made < 100000


@test
def nothing_of_a_job_is_left_for_the_next():
	places = [
		"os.environ['HOME'] + '/x'",
		"os.environ['TMPDIR'] + '/x'",
		"os.environ['TRITON_CACHE_DIR'] + '-x'",
		"os.environ['XDG_CACHE_HOME'] + '-x'",
		"'/tmp/x'",
		"'/dev/shm/x'",
		"'x'",
		"os.environ['CUDA_CACHE_PATH'] + '-x'",
	]
	body = (
		f"places = [{', '.join(places)}]\nseen = [os.path.exists(p) for p in places]\nfor p in "
		"places: open(p, 'w')\n"
		"seen.append(call(29, 4711, 4096, 0o1600))\n"
	)  # shmget with IPC_CREAT and IPC_EXCL
	for user, inside in as_each_user():
		for _ in range(2):
			equal(inside.see(body), [False] * len(places) + ["done"])


# ---- processes ----


@test
def other_processes_can_neither_be_seen_nor_signalled():
	other = subprocess.Popen(
		["/bin/sleep", "600"], **({"user": "nobody"} if os.geteuid() == 0 else {})
	)
	try:
		for user, inside in as_each_user():
			seen = inside.see(
				f"seen = [attempt(lambda: os.kill({other.pid}, 0)), attempt(lambda: "
				f"os.kill({inside.runner.process.pid}, 9)), os.getppid(), "
				"sorted(int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) not in (1, "
				"os.getpid())), attempt(lambda: os.kill(1, 9)), "
				f"attempt(lambda: os.kill(1, 19))]\n"
			)
			equal(seen[:4], ["ESRCH", "ESRCH", 0, []])
			equal(
				inside.see(
					"import signal\nsignal.signal(15, signal.SIG_IGN)\nseen = [attempt(lambda: "
					"os.kill(-1, 15)), 'alive']"
				)[1],
				"alive",
			)
		equal(other.poll(), None)
	finally:
		other.kill()
		other.wait()


@test
def the_first_process_cannot_be_looked_into():
	body = """
def look(path):
    if path.endswith(('fd', 'task')):
        return attempt(lambda: os.listdir(path))
    if path.endswith(('exe', 'cwd', 'root')):
        return attempt(lambda: os.readlink(path))
    return attempt(lambda: open(path, 'rb').read(1))
seen = [look(f'/proc/1/{what}') for what in
    ('mem', 'environ', 'fd', 'maps', 'exe', 'cwd', 'root', 'auxv', 'stack')]
"""
	for user, inside in as_each_user():
		lacks(str(inside.see(body)), "done")


@test
def killing_podium_run_ends_everything_in_there():
	for user in USERS:
		with Runner(user=user) as runner:
			runner.send(
				job(
					harness=HEAD + "for _ in range(3): subprocess.Popen(['/bin/sleep', '600'], "
					"start_new_session=True)\n"
					"say('test-count', 2)\nsay('test.0.status', 'pass')\ntime.sleep(600)\n"
				)
			)
			runner.until("progress", text="test 1/2")
			inside = descendants(runner.process.pid)
			equal(len(inside), 5)
			runner.process.kill()
			runner.process.wait()
			wait_until_gone(inside)


# ---- network and messages ----


@test
def no_network_is_in_reach():
	listener = socket.create_server(("127.0.0.1", 0))
	port = listener.getsockname()[1]
	families = {
		"inet": (2, 1, 0),
		"inet6": (10, 2, 0),
		"netlink": (16, 3, 0),
		"audit": (16, 3, 9),
		"packet": (17, 3, 0),
		"alg": (38, 5, 0),
		"vsock": (40, 1, 0),
		"xdp": (44, 3, 0),
		"large": (100, 1, 0),
	}
	body = (
		f"seen = {{what: attempt(lambda: socket.socket(*how)) for what, "
		f"how in {families}.items()}}\n"
		"pairs = {what: call(53, *how, ctypes.create_string_buffer(8)) for what, "
		f"how in {families}.items()}}\n"
		"seen['unix'] = attempt(lambda: socket.socketpair())\n"
	)
	refused = {"packet", "alg", "vsock", "xdp", "large", "audit"}
	for user, inside in as_each_user():
		equal(inside.see(body + "seen = pairs"), dict.fromkeys(families, "EAFNOSUPPORT"))
		seen = inside.see(body)
		equal(seen.pop("unix"), "done")
		equal(set(seen.values()), {"EAFNOSUPPORT"})
		# Processes of one task may talk to each other, but to no other process.
		seen = inside.see(
			body
			+ f"""
def meet():
    server = socket.create_server(('localhost', 0))
    client = socket.create_connection(('podium', server.getsockname()[1]))
    server.accept()[0].send(b'x')
    assert client.recv(1) == b'x'
def reach(host, port):
    client = socket.socket()
    client.settimeout(5)
    client.connect((host, port))
seen['meet'] = attempt(meet)
seen['host'] = attempt(lambda: reach('127.0.0.1', {port}))
seen['metadata'] = attempt(lambda: reach('169.254.169.254', 80))
seen['outside'] = attempt(lambda: reach('192.0.2.1', 80))
seen['interfaces'] = [name for _, name in socket.if_nameindex()]
seen['pairs'] = pairs
""",
			definition=task(multi_gpu=True),
		)
		# The kernel has no pair of Internet sockets, so allowed families answer EOPNOTSUPP.
		equal(
			{what for what, outcome in seen["pairs"].items() if outcome == "EAFNOSUPPORT"}, refused
		)
		equal([seen[what] for what in ("inet", "inet6", "netlink", "unix", "meet")], ["done"] * 5)
		equal({seen[what] for what in refused}, {"EAFNOSUPPORT"})
		equal(
			[seen[what] for what in ("host", "metadata", "outside", "interfaces")],
			["ECONNREFUSED", "ENETUNREACH", "ENETUNREACH", ["lo"]],
		)
	listener.close()


@test
def the_hosts_sockets_and_queues_are_not_there():
	abstract = f"\0podium-{os.getpid()}"
	listener = socket.socket(socket.AF_UNIX)
	listener.bind(abstract)
	listener.listen()
	queue = libc.msgget(0, 0o1666)
	try:
		for user, inside in as_each_user():
			seen = inside.see(
				"import socket as s\nseen = [attempt(lambda: "
				f"s.socket(s.AF_UNIX).connect({abstract!r})), call(71, {queue}, 2, "
				"ctypes.create_string_buffer(256)), "
				"socket.gethostname()]"
			)
			equal(seen, ["ECONNREFUSED", "EINVAL", "podium"])
	finally:
		libc.msgctl(queue, 0, None)
		listener.close()


# ---- devices ----


@test
def only_harmless_devices_are_there():
	body = (
		"seen = [sorted(os.listdir('/dev')), attempt(lambda: os.mknod('/tmp/mem', 0o20600, "
		"os.makedev(1, 1))), attempt(lambda: os.mknod('/tmp/disk', 0o60600, os.makedev(254, 0))), "
		"attempt(lambda: open('/dev/null', 'w').write('x')), len(open('/dev/urandom', "
		"'rb').read(8)), attempt(lambda: os.mkfifo('/tmp/pipe'))]"
	)
	for user, inside in as_each_user():
		equal(
			inside.see(body),
			[
				"fd full null random shm stderr stdin stdout urandom zero".split(),
				"EPERM",
				"EPERM",
				"done",
				8,
				"done",
			],
		)


@test
def a_compiler_gets_no_gpu():
	with tempfile.TemporaryDirectory(prefix="podium-nvcc.") as folder:
		os.chmod(folder, 0o755)
		nvcc = pathlib.Path(folder, "nvcc")
		nvcc.write_text("#!/bin/sh\nls /dev; id -u; echo $CUDA_VISIBLE_DEVICES; exit 1\n")
		nvcc.chmod(0o755)
		for user, inside in as_each_user():
			result = inside.runner.run(
				"int x;", "", definition=cu_task(), device=GPU, nvcc=str(nvcc)
			)
			equal(result.verdict, "compile error")
			lacks(result.log(position=0), "nvidia")
			contains(result.log(position=0), "65534" if os.geteuid() == 0 else "\n")


# ---- privileges ----


@test
def there_is_no_privilege_and_no_way_to_one():
	body = """
lines = open('/proc/self/status').read().splitlines()
status = dict(line.split(':\\t') for line in lines if ':\\t' in line)
program = next((p for p in ('/bin/su', '/usr/bin/passwd', '/usr/bin/mount')
    if os.path.exists(p) and os.stat(p).st_mode & 0o4000), None)
ids = os.getresuid() + os.getresgid()
seen = {'capabilities': [status[f'Cap{kind}'] for kind in ('Inh', 'Prm', 'Eff', 'Bnd', 'Amb')],
    'no new': status['NoNewPrivs'], 'filter': status['Seccomp'], 'ids': len(set(ids)),
    'root': 0 in ids + tuple(os.getgroups()),
    'setuid': attempt(lambda: os.setuid(0)), 'setgroups': attempt(lambda: os.setgroups([0])),
    'files': [m.split()[3] for m in open('/proc/self/mounts')
        if 'nosuid' not in m.split()[3].split(',')],
    'program': subprocess.run([program, '-c', 'id -u'], stdin=subprocess.DEVNULL,
        capture_output=True).stdout.decode() if program else ''}
"""
	for user, inside in as_each_user():
		seen = inside.see(body)
		assert seen.pop("setuid") in ("EPERM", "EINVAL"), (
			seen
		)  # EINVAL: the user namespace has no root
		equal(
			seen,
			{
				"capabilities": ["0" * 16] * 5,
				"no new": "1",
				"filter": "2",
				"ids": 1,
				"root": False,
				"setgroups": "EPERM",
				"files": [],
				"program": "",
			},
		)


# ---- system calls ----

REFUSED = {  # x86-64: number, arguments
	"ptrace": (101, 0),
	"process_vm_readv": (310, 1),
	"process_vm_writev": (311, 1),
	"kcmp": (312, 1),
	"pidfd_getfd": (438, 1),
	"process_madvise": (440, 1),
	"bpf": (321, 0),
	"perf_event_open": (298, 0),
	"userfaultfd": (323, 1),
	"fanotify_init": (300, 0),
	"inotify_add_watch": (254, 0),
	"lookup_dcookie": (212, 0),
	"keyctl": (250, 0),
	"add_key": (248, 0),
	"request_key": (249, 0),
	"mount": (165, 0),
	"umount2": (166, 0),
	"pivot_root": (155, 0),
	"chroot": (161, 0),
	"move_mount": (429, 0),
	"open_tree": (428, 0),
	"fsopen": (430, 0),
	"fsconfig": (431, 0),
	"fsmount": (432, 0),
	"fspick": (433, 0),
	"mount_setattr": (442, 0),
	"name_to_handle_at": (303, 0),
	"open_by_handle_at": (304, 0),
	"quotactl": (179, 0),
	"swapon": (167, 0),
	"swapoff": (168, 0),
	"setns": (308, 0),
	"unshare": (272, 0x10000000),
	"unshare files": (272, 0x400),
	"clone user": (56, 0x10000000),
	"clone mounts": (56, 0x20011),
	"clone pids": (56, 0x20000011),
	"clone net": (56, 0x40000011),
	"init_module": (175, 0),
	"finit_module": (313, 0),
	"delete_module": (176, 0),
	"kexec_load": (246, 0),
	"kexec_file_load": (320, 0),
	"reboot": (169, 0),
	"acct": (163, 0),
	"syslog": (103, 10),
	"vhangup": (153,),
	"settimeofday": (164, 0),
	"clock_settime": (227, 0),
	"clock_adjtime": (305, 0),
	"adjtimex": (159, 0),
	"iopl": (172, 0),
	"ioperm": (173, 0, 1, 0),
	"modify_ldt": (154, 0),
	"sethostname": (170, 0),
	"setdomainname": (171, 0),
	"personality": (135, 0x40000),
	"uselib": (134, 0),
	"seccomp listener": (317, 1, 8, 0),
	"terminal input": (16, 0, 0x5412, 0),
	"lease": (72, 0, 1024, 0),
	"notes": (72, 0, 1026, 0),
	"mknod device": (133, 0, 0o20600),
	"mknodat block": (259, 0, 0, 0o60600),
}
ABSENT = {
	"io_uring_setup": (425, 1),
	"io_uring_enter": (426, 1),
	"io_uring_register": (427, 1),
	"clone3": (435, 0),
	"memfd_secret": (447, 0),
	# Numbers of calls that are newer than Linux 6.1, or that no kernel has yet.
	"cachestat": (451, 0),
	"statmount": (457, 0),
	"listmount": (458, 0),
	"open_tree_attr": (467, 0),
	"call 469": (469, 0),
	"call 1000": (1000, 0),
	"call 337": (337, 0),
	"call 423": (423, 0),
}


@test
def system_calls_that_no_kernel_needs_are_refused():
	if os.uname().machine != "x86_64":
		raise Skip("the numbers are those of x86-64")
	body = "seen = [{what: call(*how) for what, how in table.items()} for table in (%r, %r)]\n" % (
		REFUSED,
		ABSENT,
	)
	for user, inside in as_each_user():
		refused, absent = inside.see(body)
		equal({what: outcome for what, outcome in refused.items() if outcome != "EPERM"}, {})
		equal({what: outcome for what, outcome in absent.items() if outcome != "ENOSYS"}, {})
		# The filter applies to every thread and to child processes.
		threads = (
			"import threading\ndone = []\ndef other(): done.append(call(272, 0x10000000))\nthread "
			"= threading.Thread(target=other)\nthread.start()\nthread.join()\n"
			'code = "import ctypes; l = ctypes.CDLL(None, use_errno=True); '
			'print(l.unshare(0x10000000), ctypes.get_errno())"\n'
			"seen = [done, subprocess.run([sys.executable, '-c', code], capture_output=True, "
			"text=True).stdout.split()]\n"
		)
		equal(inside.see(threads), [["EPERM"], ["-1", "1"]])


@test
def system_calls_of_another_architecture_end_the_program():
	if os.uname().machine != "x86_64":
		raise Skip("needs x86-64")
	# The i386 getpid: mov eax, 20; int 0x80; ret. Below, the x32 form of getpid.
	other = (
		"import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\ncode.write(bytes([0xb8, 20, 0, 0, 0, "
		"0xcd, 0x80, 0xc3]))\n"
		"ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()\n"
	)
	for user, inside in as_each_user():
		for body in (other, "call(0x40000000 + 39)\n"):
			result = inside.run(body)
			equal(result.verdict, "runtime error")
			contains(result.reason, "SIGSYS")


# ---- limits ----

# Programs that exceed the memory limit. Each keeps its memory for a while, because without a
# control group podium-run checks only ten times a second.
BOMBS = {
	"memory": "x = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): x[i] = "
	"1\ntime.sleep(600)\n",
	"children": "for _ in range(8):\n    if os.fork() == 0:\n        x = bytearray(64 << 20)\n    "
	"    for i in range(0, len(x), 4096): x[i] = 1\n        time.sleep(600)\ntime.sleep(600)\n",
	"files in memory": "f = os.memfd_create('x')\nwhile os.fstat(f).st_size < 900 << 20: "
	"os.write(f, bytes(1 << 20))\ntime.sleep(600)\n",
	"shared memory": "import mmap\nx = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): "
	"x[i] = 1\ntime.sleep(600)\n",
	"temporary files": "for place in ('/tmp/x', '/dev/shm/x', os.environ['TMPDIR'] + '/x'):\n"
	"    with open(place, "
	"'wb') as f:\n        try:\n"
	"            for _ in range(200): f.write(bytes(1 << 20))\n        except OSError: "
	"pass\ntime.sleep(600)\n",
}


@test
def memory_has_a_limit_in_whatever_form_it_is_taken():
	for user, inside in as_each_user("--memory", "256"):
		for what, body in BOMBS.items():
			result = inside.run(body)
			equal((what, result.verdict), (what, "memory limit"))
			contains(result.reason, "used more than 0.2 GiB of memory")
		equal(
			inside.see(
				"x = bytearray(100 << 20)\nfor i in range(0, len(x), 4096): x[i] = "
				"1\ntime.sleep(0.5)\nseen = 'fine'"
			),
			"fine",
		)


@test
def what_forked_processes_share_counts_once():
	body = (
		"x = bytearray(100 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nchildren = []\nfor "
		"_ in range(8):\n    pid = os.fork()\n    if pid == 0:\n"
		"        time.sleep(1)\n        os._exit(0)\n    children.append(pid)\nseen = "
		"[os.waitpid(pid, 0)[1] for pid in children]\n"
	)
	for user, inside in as_each_user("--memory", "256"):
		equal(inside.see(body), [0] * 8)


@test
def processes_have_a_limit():
	forks = (
		"while True:\n"
		"    try:\n"
		"        if os.fork() == 0: time.sleep(600)\n"
		"    except OSError: pass\n"
	)
	tree = "while True:\n    try: os.fork()\n    except OSError: time.sleep(600)\n"
	threads = (
		"import threading\n"
		"while True:\n"
		"    try: threading.Thread(target=time.sleep, args=(600,)).start()\n"
		"    except RuntimeError: pass\n"
	)
	with as_only_bomb():
		for user, inside in as_each_user("--processes", "100"):
			for body in (forks, threads, tree):
				result = inside.run(body)
				equal(result.verdict, "runtime error")
				contains(result.reason, "more than 100 processes and threads")
				equal(descendants(inside.runner.process.pid), [])
			equal(inside.see("seen = 1"), 1)


@test
def a_fork_bomb_does_not_stop_other_programs_from_starting():
	with as_only_bomb():
		for user, inside in as_each_user("--processes", "100"):
			most, groups = inside.see(
				"import resource\nseen = [resource.getrlimit(resource.RLIMIT_NPROC)[0], "
				"'/podium-' in open('/proc/self/cgroup').read()]"
			)
			assert groups or most >= (200 if user else 400), most


# ---- ordinary programs ----

GOOD = {
	"processes and queues": "import multiprocessing as m\nq = m.Queue()\np = "
	"m.Process(target=q.put, args=(5,))\np.start()\nseen = q.get()\np.join()\n",
	"locks in shared memory": (
		"import multiprocessing as m\nfrom multiprocessing import shared_memory as s\n"
		"l = m.Lock()\nx = s.SharedMemory(create=True, size=100)\n"
		"with l: x.buf[0] = 5\nseen = x.buf[0]\nx.close(); x.unlink()\n"
	),
	"threads": "import concurrent.futures as c\nwith c.ThreadPoolExecutor(4) as pool: seen = "
	"sum(pool.map(lambda x: x, range(4))) - 1\n",
	"subprocesses": "seen = int(subprocess.run(['/bin/sh', '-c', 'echo $((2 + 3))'], "
	"capture_output=True, text=True, check=True).stdout)\n",
	"a compiler and what it made": (
		"open(os.environ['TMPDIR'] + '/f.c', 'w').write('int f(void) { return 5; }')\n"
		"subprocess.run(['gcc', '-shared', '-fPIC', '-o', 'f.so', os.environ['TMPDIR'] + '/f.c'], "
		"check=True)\nseen = ctypes.CDLL('./f.so').f()\n"
	),
	"who one is": "import getpass, pwd, tempfile\nassert pwd.getpwuid(os.getuid()).pw_name == "
	"getpass.getuser()\nassert os.path.isdir(tempfile.mkdtemp())\n"
	"assert os.path.isdir(os.path.expanduser('~'))\nseen = 5\n",
	"the machine": "assert os.cpu_count() > 0 and 'MemTotal' in open('/proc/meminfo').read() and "
	"os.sched_getaffinity(0)\nopen('/proc/self/maps').read()\nseen = 5\n",
	"memory that can be executed": "import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\n"
	"code.write(bytes([0xb8, 5, 0, 0, 0, 0xc3]))\n"
	"seen = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()\n"
	if os.uname().machine == "x86_64"
	else "seen = 5\n",
	"time": "import datetime, time\nassert abs(datetime.datetime.now().timestamp() - time.time()) "
	"< 5\nseen = 5\n",
}


@test
def good_programs_notice_nothing():
	for user, inside in as_each_user():
		for what, body in GOOD.items():
			equal((what, inside.see(body)), (what, 5))


# ---- compilers ----


@test
def compile_output_holds_no_file_of_the_host():
	with tempfile.NamedTemporaryFile("w", prefix="podium-secret.") as secret:
		secret.write("very secret\n")
		secret.flush()
		os.chmod(secret.name, 0o644)
		sources = [
			f'#include "{secret.name}"\n',
			'#include "/etc/shadow"\n',
			'#include "/proc/1/environ"\n',
			f'__asm__(".incbin \\"{secret.name}\\"");\n',
		]
		for user, inside in as_each_user():
			if nvcc_lack():
				raise Skip(nvcc_lack())
			for source in sources[:1] if user else sources:  # compiling takes seconds
				result = inside.runner.run(
					source + "__global__ void k() {}\n",
					"int main() {}",
					definition=cu_task(),
					device=GPU,
				)
				equal(result.verdict, "compile error")
				lacks(json.dumps(result.events), "very secret")
				lacks(json.dumps(result.events), "root:")


@test
def what_a_compiler_leaves_is_taken_only_as_a_file_of_its_own():
	acts = {
		"a link": "ln -s /etc/passwd eval.out",
		"a link to the submission": "ln -s submission.cu eval.out",
		"a pipe": "mkfifo eval.out",
		"a folder": "mkdir eval.out",
		"a second name": "echo x > ../tmp/y; echo x > other; ln other eval.out",
		"nothing": "true",
	}
	with tempfile.TemporaryDirectory(prefix="podium-nvcc.") as folder:
		os.chmod(folder, 0o755)
		nvcc = pathlib.Path(folder, "nvcc")
		for user, inside in as_each_user():
			for what, act in acts.items():
				nvcc.write_text(f"#!/bin/sh\n{act}\n")
				nvcc.chmod(0o755)
				result = inside.runner.run(
					"int x;", "", definition=cu_task(), device=GPU, nvcc=str(nvcc)
				)
				equal((what, result.verdict), (what, "internal error"))
				contains(result.reason, "eval.out")


# ---- the zygote ----


def warm(user):
	inside = Inside("--python", PYTHON, user=user)
	until(lambda: inside.see("seen = 'numpy' in sys.modules"))
	return inside


@test
def programs_of_the_zygote_are_in_the_same_sandbox():
	look = (
		"status = dict(line.split(':\\t') for line in "
		"open('/proc/self/status').read().splitlines() if ':\\t' in line)\n"
		"seen = [[status[k] for k in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', "
		"'NoNewPrivs', 'Seccomp', 'Uid', 'Gid', 'Groups')], os.getppid(), os.getcwd(), "
		"sorted(os.listdir('/')), sorted(os.listdir('/dev')), socket.gethostname(), "
		"sorted(m.split()[1] for m in open('/proc/self/mounts')), "
		"attempt(lambda: socket.socket()), call(272, 0x10000000), call(101, 0), attempt(lambda: "
		"open('eval.py', 'a')), os.path.exists('/etc/shadow'), "
		"sorted(int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) not in (1, "
		"os.getpid()))]\n"
	)
	for user in USERS:
		with warm(user) as inside, Inside(user=user) as cold:
			forked = inside.see(look)
			equal(forked, cold.see(look))
			equal((forked[0][6], forked[1], forked[2]), ("2", 0, "/job/test/run"))


@test
def interpreters_that_it_spawns_are_in_there_too():
	body = """
import multiprocessing, sys
forked = "numpy" in sys.modules
def look(number):
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    status = open("/proc/self/status").read()
    return [forked, libc.unshare(0x10000000), os.path.exists("/etc/shadow"),
        status.split("Seccomp:")[1].split()[0], status.split("CapEff:")[1].split()[0],
        os.stat("/proc/self/ns/mnt").st_ino == os.stat("/proc/%d/ns/mnt" % os.getppid()).st_ino]
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool: answers = pool.map(look, range(2))
"""
	for user in USERS:
		with warm(user) as inside:
			result = inside.runner.run(
				RIGHT,
				body
				+ "".join(
					"    " + line + "\n" for line in (HEAD + "seen = answers\n" + TAIL).splitlines()
				),
			)
			equal((result.verdict, result.reason), ("passed", "Every case was right."))
			equal(
				json.loads(result.cases[0]["message"]), [[True, -1, False, "2", "0" * 16, True]] * 2
			)


# ---- hosts without namespaces ----


def walls(*words, **members):
	done = subprocess.run(
		[*words, PROGRAM, "--walls"],
		stdin=subprocess.DEVNULL,
		capture_output=True,
		text=True,
		timeout=60,
		**members,
	)
	equal((done.returncode, done.stderr), (0, ""))
	return {wall["name"]: wall for wall in json.loads(done.stdout)}


@test
def each_wall_is_tried_and_named():
	for user in USERS:
		with tempfile.TemporaryDirectory() as folder:
			os.chmod(folder, 0o777)
			found = walls(
				**({"user": user, "group": "nogroup", "extra_groups": []} if user else {}),
				env={**os.environ, "TMPDIR": folder},
			)
		equal(
			sorted(found),
			sorted(
				(
					"users",
					"files",
					"disk",
					"processes",
					"proc",
					"network",
					"ipc",
					"name",
					"devices",
					"privileges",
					"system calls",
					"limits",
					"control groups",
				)
			),
		)
		equal(
			[name for name, wall in found.items() if not wall["stands"]],
			[] if found["control groups"]["stands"] else ["control groups"],
		)
		for wall in found.values():
			assert wall["stops"] and (
				wall["stands"] or (wall["why"].endswith(".") and wall["mend"].endswith("."))
			), wall


# Commands that take away the right to make namespaces: CONTAINER from root, as in most containers,
# and LOCKED from an ordinary user, as on a host that forbids them.
CONTAINER = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
LOCKED = [
	"unshare",
	"--user",
	"--map-current-user",
	"--keep-caps",
	"sh",
	"-c",
	"echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all "
	'--ambient-caps=-all "$@"',
	"sh",
]


@test
def a_host_without_namespaces_runs_jobs_all_the_same_and_says_what_is_missing():
	if os.geteuid() != 0:
		raise Skip("needs root to take rights away")
	lost = ["files", "disk", "processes", "proc", "network", "ipc", "name", "devices"]
	for prefix, user in ((CONTAINER, None), (LOCKED, "nobody")):
		with tempfile.TemporaryDirectory() as folder:
			os.chmod(folder, 0o777)
			found = walls(
				*prefix,
				**({"user": user, "group": "nogroup", "extra_groups": []} if user else {}),
				env={**os.environ, "TMPDIR": folder},
			)
		missing = [
			name for name, wall in found.items() if not wall["stands"] and name != "control groups"
		]
		equal(missing, (["users"] if user else []) + lost)
		contains(found["files"]["why"], "namespaces" if prefix is CONTAINER else "user namespace")
		with Inside(prefix=prefix, user=user) as inside:
			environment = inside.run("").events[0]["environment"]
			equal(
				environment["sandbox"].removesuffix(", control groups"),
				"without " + ", ".join((["users"] if user else []) + lost),
			)
			equal(
				inside.see(
					"seen = [attempt(lambda: socket.socket()), call(272, 0x10000000), call(101, 0)]"
				),
				["EAFNOSUPPORT", "EPERM", "EPERM"],
			)
			result = inside.run("subprocess.Popen(['/bin/sleep', '600'], start_new_session=True)\n")
			equal((result.verdict, descendants(inside.runner.process.pid)), ("passed", []))
		# Without namespaces, all jobs of a user share one limit on processes, which a bomb of
		# another suite may have reached.
		with (
			as_only_bomb(),
			Inside("--memory", "256", "--processes", "100", prefix=prefix, user=user) as inside,
		):
			for what in ("memory", "children"):
				result = inside.run(BOMBS[what])
				assert result.verdict == "memory limit", (what, result.verdict, result.reason)
			contains(
				inside.run(
					"for _ in range(200):\n    if os.fork() == 0: "
					"time.sleep(600)\ntime.sleep(600)\n"
				).reason,
				"more than 100 processes",
			)


@test
def limits_must_be_numbers():
	for words in (
		["--memory", "much"],
		["--disk", "-1"],
		["--processes", "0"],
		["--memory", "99999999999999999999"],
	):
		done = subprocess.run(
			[PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True
		)
		equal(done.returncode, 1)
		contains(done.stderr, "is not a valid limit")


sys.exit(run())
