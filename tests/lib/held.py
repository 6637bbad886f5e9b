"""Makes requests collide: a transaction locks a row until all of the requests wait for that row."""

import subprocess
import threading
import time

# The pause between two queries of innodb_trx. InnoDB answers from a cache for a tenth of a second
# after a query.
QUIET_S = 0.15


class Held:
	"""An open transaction that has changed or locked rows of a site. Other transactions that need
	these rows wait until commit()."""

	def __init__(self, site, statement):
		self.site = site
		self.program = subprocess.Popen(
			[
				"mariadb",
				"--no-defaults",
				"-S",
				site.database.socket,
				"-N",
				"-B",
				"-n",
				site.database.name,
			],
			stdin=subprocess.PIPE,
			stdout=subprocess.PIPE,
			text=True,
		)
		self.program.stdin.write(f"BEGIN; {statement}; SELECT 'held';\n")
		self.program.stdin.flush()
		answer = ""
		while answer != "held\n":
			answer = self.program.stdout.readline()
			assert answer, "the statement failed"

	def wait_for_others(self, count=1, unless=lambda: False):
		end = time.time() + 60
		time.sleep(QUIET_S)
		while (
			not unless()
			and int(
				self.site.sql(
					"SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN "
					"information_schema.processlist p "
					"ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND "
					"p.db = DATABASE()"
				)[0][0]
			)
			< count
		):
			assert time.time() < end, "nobody waits"
			time.sleep(QUIET_S)

	def commit(self):
		if self.program.poll() is None:
			self.program.communicate("COMMIT;\n")

	def __enter__(self):
		return self

	def __exit__(self, *failure):
		self.commit()


def beside(*calls):
	"""Starts each call in a thread. Returns a function that waits for them and returns their
	results."""
	results = [None] * len(calls)

	def run_one(index):
		results[index] = calls[index]()

	threads = [threading.Thread(target=run_one, args=(index,)) for index in range(len(calls))]
	for thread in threads:
		thread.start()

	def join():
		for thread in threads:
			thread.join()
		return results

	return join
