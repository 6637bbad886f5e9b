"""A Slurm cluster on this machine for tests: munged with its own key, slurmctld, and a slurmd for
each node, all on the loopback. The cluster's settings, sockets and state are in one folder, apart
from the system's Slurm."""

import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

import tap
from instance import free_port
from processes import parent_of

PROGRAMS = (
	"munged",
	"slurmctld",
	"slurmd",
	"srun",
	"sinfo",
	"squeue",
	"scancel",
	"scontrol",
	"setpriv",
)
SETTINGS = """
ClusterName=podium
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldParameters=idle_on_node_suspend
SchedulerParameters=sched_interval=1,batch_sched_delay=0,default_queue_depth=10
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
GresTypes=gpu
"""


def lack():
	"""The reason why this machine cannot run a cluster, or None."""
	path = os.environ["PATH"] + ":/usr/sbin:/sbin"
	missing = [program for program in PROGRAMS if not shutil.which(program, path=path)]
	if missing:
		return f"{', '.join(missing)} are not installed (packages slurm-wlm, munge)"
	return None if os.geteuid() == 0 else "slurmctld and slurmd run as root here"


def kill(pid):
	try:
		if pid and pid > 1:
			os.kill(pid, signal.SIGKILL)
	except ProcessLookupError:
		pass


class Cluster:
	def __init__(self, nodes=("one", "two"), gpus=0, cores=2):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-slurm."))
		self.folder.chmod(0o755)
		self.environment = {
			**os.environ,
			"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
			"SLURM_CONF": str(self.folder / "slurm.conf"),
		}
		self.names, self.processes = list(nodes), {}
		for name in ("munge", "state", "dev"):
			(self.folder / name).mkdir(mode=0o755)
		key = self.folder / "key"
		key.write_bytes(os.urandom(128))
		key.chmod(0o600)
		self.write_settings(gpus, cores)
		try:
			self.start_all()
		except BaseException:
			self.remove()
			raise

	def start_all(self):
		self.start("munged")
		self.until(lambda: (self.folder / "munge" / "socket").exists())
		self.start("slurmctld")
		self.until(lambda: self.ask("scontrol", "ping").returncode == 0)
		for node in self.names:
			self.start(node)
		self.until(lambda: self.states() == ["idle"] * len(self.names))

	def write_settings(self, gpus, cores):
		host = socket.gethostname().split(".")[0]
		ports = [free_port() for _ in self.names]
		lines = SETTINGS.format(host=host, port=free_port(), folder=self.folder)
		for node, port in zip(self.names, ports):
			gres = f" Gres=gpu:h200:{gpus}" if gpus else ""
			lines += (
				f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
				f"CPUs={cores} RealMemory=500{gres}\n"
			)
		nodes = ",".join(self.names)
		lines += (
			f"PartitionName=main Nodes={nodes} Default=YES MaxTime=INFINITE State=UP "
			"PriorityTier=1 PreemptMode=CANCEL\n"
		)
		lines += (
			f"PartitionName=urgent Nodes={nodes} MaxTime=INFINITE State=UP PriorityTier=9 "
			"PreemptMode=OFF\n"
		)
		(self.folder / "slurm.conf").write_text(lines)
		(self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
		for number in range(gpus):
			os.mknod(
				self.folder / "dev" / f"nvidia{number}", stat.S_IFCHR | 0o666, os.makedev(1, 3)
			)
		files = f"{self.folder}/dev/nvidia" + (f"[0-{gpus - 1}]" if gpus > 1 else "0")
		(self.folder / "gres.conf").write_text(
			f"NodeName={nodes} Name=gpu Type=h200 File={files}\n" if gpus else ""
		)

	def command(self, name):
		if name == "munged":
			return [
				"munged",
				"--foreground",
				"--force",
				f"--key-file={self.folder}/key",
				f"--socket={self.folder}/munge/socket",
				f"--pid-file={self.folder}/munged.pid",
				f"--log-file={self.folder}/munged.log",
				f"--seed-file={self.folder}/seed",
				"--num-threads=2",
			]
		return ["slurmctld", "-D"] if name == "slurmctld" else ["slurmd", "-D", "-N", name]

	def start(self, name):
		"""Starts munged, slurmctld, or the slurmd of a node."""
		log = open(self.folder / f"{name}.out", "ab")
		self.processes[name] = subprocess.Popen(
			self.command(name),
			env=self.environment,
			stdin=subprocess.DEVNULL,
			stdout=log,
			stderr=log,
			start_new_session=True,
		)
		log.close()

	def kill(self, name, number=signal.SIGKILL):
		process = self.processes.pop(name)
		process.send_signal(number)
		process.wait(30)

	def fail_node(self, node):
		"""Kills everything on the node, as a power failure does, and lets slurmctld notice."""
		self.kill(node)
		for pid in self.processes_with(f"SLURMD_NODENAME={node}"):
			kill(parent_of(pid))  # slurmstepd
			kill(pid)
		self.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")

	def processes_with(self, *variables):
		"""The processes of this cluster whose environment contains all of these words."""
		wanted = {
			variable.encode()
			for variable in (f"SLURM_CONF={self.environment['SLURM_CONF']}", *variables)
		}
		found = []
		for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
			try:
				if wanted <= set(environ.read_bytes().split(b"\0")):
					found.append(int(environ.parent.name))
			except OSError:
				continue
		return found

	def heal_node(self, node):
		self.start(node)
		self.ask("scontrol", "update", f"nodename={node}", "state=resume")
		self.until(lambda: self.states() == ["idle"] * len(self.names), 60)

	def ask(self, *words):
		return subprocess.run(
			words,
			env=self.environment,
			capture_output=True,
			text=True,
			stdin=subprocess.DEVNULL,
			timeout=60,
		)

	def states(self):
		return self.ask(
			"sinfo", "--noheader", "--Node", "--partition=main", "--format=%t"
		).stdout.split()

	def jobs(self, *options):
		"""(number, name, state, node) of all unfinished Slurm jobs."""
		lines = self.ask(
			"squeue", "--noheader", "--format=%i|%j|%T|%N", *options
		).stdout.splitlines()
		return [tuple(line.split("|")) for line in lines]

	def ours(self):
		return [
			job for job in self.jobs() if job[1].startswith("podium-") and job[2] != "COMPLETING"
		]

	def occupy(self, partition="main", seconds=600):
		"""Fills all nodes with Slurm jobs of another user. Returns a function that ends these
		jobs."""
		jobs = [
			subprocess.Popen(
				[
					"srun",
					"--quiet",
					f"--partition={partition}",
					"--exclusive",
					"--nodes=1",
					"--chdir=/",
					"sleep",
					str(seconds),
				],
				env=self.environment,
				stdin=subprocess.DEVNULL,
				stdout=subprocess.DEVNULL,
				stderr=subprocess.DEVNULL,
			)
			for _ in self.names
		]

		def end():
			for job in jobs:
				job.terminate()
				job.wait(60)

		return end

	def until(self, condition, limit_s=30):
		tap.until(condition, limit_s, self.explain)

	def explain(self):
		logs = "\n".join(
			f"{path.name}: {path.read_text(errors='replace')[-1500:]}"
			for path in sorted(self.folder.glob("*.out"))
		)
		return f"{self.ask('sinfo').stdout}\n{logs}"

	def clear(self):
		"""Ends all Slurm jobs and restarts the daemons that a test has killed."""
		for name in ["munged", "slurmctld", *self.names]:
			if name not in self.processes:
				(self.folder / "munge" / "socket").unlink(
					missing_ok=True
				) if name == "munged" else None
				self.start(name)
		self.until(lambda: self.ask("scontrol", "ping").returncode == 0)
		if set(self.states()) - {"idle", "mix", "alloc", "comp"}:
			self.ask("scontrol", "update", f"nodename={','.join(self.names)}", "state=resume")
		for job in self.jobs():
			self.ask("scancel", "--quiet", job[0])
		self.until(lambda: self.states() == ["idle"] * len(self.names), 60)

	def remove(self):
		for job in self.jobs():
			self.ask("scancel", "--quiet", job[0])
		for name in [*self.names, "slurmctld", "munged"]:
			if name in self.processes:
				self.kill(name, signal.SIGTERM if name != "munged" else signal.SIGKILL)
		for pid in self.processes_with():
			kill(pid)
		shutil.rmtree(self.folder, ignore_errors=True)
