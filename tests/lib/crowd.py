"""A site with much data (tests/bench/data.sql), and a list of every address that answers GET.

`make bench` and the tests that count database queries share the list.
"""

import base64
import hashlib
import hmac
import pathlib
import re
import secrets

import route_table
from client import Client
from small_task import zip_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# (visitor, route in cgi/router.c, an address of the route). Crowd.find() looks up the IDs that
# replace the words in braces.
ADDRESSES = [
	("anyone", "/", "/"),
	("anyone", "/leaderboard/*", "/leaderboard/bench?gpu=H200"),
	("anyone", "/leaderboard/*", "/leaderboard/bench?gpu=H200&page=9"),
	(
		"anyone",
		"/leaderboard/*",
		"/leaderboard/bench?gpu=H200&user=ser7&period=month&language=triton",
	),
	("anyone", "/leaderboard/*", "/leaderboard/bench?view=shapes&gpu=H200"),
	("anyone", "/leaderboard/*", "/leaderboard/bench?view=gpus"),
	("anyone", "/leaderboard/*", "/leaderboard/bench?view=live"),
	("anyone", "/leaderboard/*/live", "/leaderboard/bench/live"),
	("anyone", "/leaderboard/*.json", "/leaderboard/bench.json?gpu=H200"),
	("anyone", "/leaderboard/*.csv", "/leaderboard/bench.csv?gpu=H200"),
	("anyone", "/leaderboard/*.csv", "/leaderboard/bench.csv?language=triton"),
	("anyone", "/leaderboard/*.atom", "/leaderboard/bench.atom"),
	("anyone", "/leaderboard/*/badge.svg", "/leaderboard/bench/badge.svg?user=user7"),
	("anyone", "/leaderboard/*/share.png", "/leaderboard/bench/share.png"),
	("anyone", "/leaderboard/*/submit", "/leaderboard/bench/submit"),
	("anyone", "/leaderboard/*/task", "/leaderboard/bench/task"),
	("anyone", "/leaderboard/*/template/*", "/leaderboard/bench/template/py"),
	("anyone", "/leaderboard/*/task/**", "/leaderboard/vectoradd_py/task/reference.py"),
	("anyone", "/leaderboard/*/raw/**", "/leaderboard/vectoradd_py/raw/reference.py"),
	("anyone", "/submission/*", "/submission/{submission}"),
	("anyone", "/submission/*/status", "/submission/{submission}/status"),
	("anyone", "/compare", "/compare?a={submission}&b={other}"),
	("anyone", "/comparison/*", "/comparison/{comparison}"),
	("anyone", "/comparison/*/status", "/comparison/{comparison}/status"),
	("anyone", "/user/*", "/user/user1"),
	("anyone", "/queue", "/queue"),
	("anyone", "/queue/status", "/queue/status"),
	("anyone", "/archive", "/archive"),
	("anyone", "/judge", "/judge"),
	("anyone", "/help", "/help"),
	("anyone", "/help/*", "/help/terminal"),
	("anyone", "/help/terminal/podium", "/help/terminal/podium"),
	("anyone", "/help/terminal/podium.sha256", "/help/terminal/podium.sha256"),
	("anyone", "/language/*", "/language/py"),
	("anyone", "/language/*/*", "/language/py/eval.py"),
	("anyone", "/join", "/join"),
	("anyone", "/register", "/register"),
	("anyone", "/login", "/login"),
	("anyone", "/password/*", "/password/{link}"),
	("anyone", "/forgot", "/forgot"),
	("anyone", "/mail/confirm/*", "/mail/confirm/{confirmation}"),
	("anyone", "/mail/unsubscribe/*", "/mail/unsubscribe/{unsubscription}"),
	("anyone", "/sign-in", "/sign-in"),
	("anyone", "/account/deleted", "/account/deleted"),
	("anyone", "/healthz", "/healthz"),
	("anyone", "/metrics", "/metrics"),
	("user1", "/", "/"),
	("user1", "/leaderboard/*", "/leaderboard/bench?gpu=H200"),
	("user1", "/leaderboard/*", "/leaderboard/bench?gpu=H200&mine=1"),
	("user1", "/submit", "/submit"),
	("user1", "/leaderboard/*/submit", "/leaderboard/bench/submit"),
	("user1", "/leaderboard/*/submit", "/leaderboard/bench/submit?from={own}"),
	("user1", "/leaderboard/*/submit", "/leaderboard/vectoradd_py/submit?template=python"),
	("user1", "/mine", "/mine"),
	("user1", "/mine", "/mine?result=passed&mode=ranked&page=20"),
	("user1", "/leaderboard/*/mine", "/leaderboard/bench/mine"),
	("user1", "/leaderboard/*/questions", "/leaderboard/bench/questions"),
	("admin", "/leaderboard/*/questions", "/leaderboard/bench/questions"),
	("user1", "/leaderboard/*/mine", "/leaderboard/bench/mine?from=2020-01-01&mode=ranked"),
	("user1", "/submission/*", "/submission/{own}"),
	("user1", "/submission/*", "/submission/{waiting}"),
	("user1", "/submission/*/status", "/submission/{waiting}/status"),
	("user1", "/submission/*/source", "/submission/{own}/source"),
	("user1", "/submission/*/artifact/*", "/submission/{with_artifact}/artifact/{artifact}"),
	("user1", "/submission/*/plan/*", "/submission/{with_artifact}/plan/{plan}"),
	("user1", "/submission/*/cancel", "/submission/{waiting}/cancel"),
	("user1", "/submission/*/withdraw", "/submission/{own}/withdraw"),
	("user1", "/submission/*/note", "/submission/{own}/note"),
	("user1", "/compare", "/compare?a={own}&b={own_other}"),
	("user1", "/user/*", "/user/user1"),
	("user1", "/queue", "/queue"),
	("user1", "/account", "/account"),
	("user1", "/account/sessions", "/account/sessions"),
	("user1", "/account/tokens", "/account/tokens"),
	("user1", "/account/mail", "/account/mail"),
	("user1", "/account/identities", "/account/identities"),
	("user1", "/account/security", "/account/security"),
	("user1", "/account/confirm", "/account/confirm"),
	("user1", "/device", "/device"),
	("user1", "/account/data", "/account/data"),
	("user1", "/account/export", "/account/export"),
	("user1", "/account/delete", "/account/delete"),
	("admin", "/admin", "/admin"),
	("admin", "/admin/leaderboards/new", "/admin/leaderboards/new"),
	("admin", "/admin/leaderboard/*/edit", "/admin/leaderboard/bench/edit"),
	("admin", "/admin/leaderboard/*/task", "/admin/leaderboard/bench/task"),
	("admin", "/admin/leaderboard/*/delete", "/admin/leaderboard/bench/delete"),
	("admin", "/admin/leaderboard/*/publishing", "/admin/leaderboard/bench/publishing"),
	("admin", "/admin/leaderboard/*/versions", "/admin/leaderboard/bench/versions"),
	("admin", "/admin/leaderboard/*/diff", "/admin/leaderboard/bench/diff?from=1&to=2"),
	("admin", "/admin/leaderboard/*/switch", "/admin/leaderboard/bench/switch?version=2"),
	("admin", "/admin/leaderboard/*/clone", "/admin/leaderboard/bench/clone"),
	("admin", "/admin/leaderboard/*/dryrun", "/admin/leaderboard/bench/dryrun"),
	("admin", "/admin/leaderboard/*/dryrun/status", "/admin/leaderboard/bench/dryrun/status"),
	("admin", "/admin/leaderboard/*/hooks", "/admin/leaderboard/bench/hooks"),
	("admin", "/admin/leaderboard/*/similar", "/admin/leaderboard/bench/similar"),
	("admin", "/admin/leaderboard/*/roles", "/admin/leaderboard/bench/roles"),
	("admin", "/admin/leaderboard/*/exceptions", "/admin/leaderboard/bench/exceptions"),
	("admin", "/admin/leaderboard/*/unfrozen", "/admin/leaderboard/bench/unfrozen?gpu=H200"),
	("admin", "/admin/contests/new", "/admin/contests/new"),
	("admin", "/admin/contest/*", "/admin/contest/cup"),
	("admin", "/contest/*/reveal", "/contest/cup/reveal"),
	("admin", "/contest/*/unfrozen", "/contest/icy/unfrozen"),
	("anyone", "/contests", "/contests"),
	("anyone", "/contest/*", "/contest/cup"),
	("anyone", "/contest/*.json", "/contest/cup.json"),
	("anyone", "/contest/*.csv", "/contest/cup.csv"),
	("anyone", "/contest/*/teams", "/contest/cup/teams"),
	("member1", "/contest/*/teams", "/contest/cup/teams"),
	("member1", "/leaderboard/*/mine", "/leaderboard/bench/mine"),
	("member1", "/leaderboard/*", "/leaderboard/bench?gpu=H200&mine=1"),
	("member1", "/leaderboard/*/submit", "/leaderboard/bench/submit"),
	("member1", "/mine", "/mine?team=team1"),
	("member1", "/submission/*", "/submission/{of_team}"),
	("anyone", "/user/*", "/user/team1"),
	("user1", "/contest/*/certificate/*", "/contest/cup/certificate/user1"),
	("admin", "/admin/hooks", "/admin/hooks"),
	("admin", "/admin/hooks/*", "/admin/hooks/{hook}"),
	("admin", "/admin/hooks/*/status", "/admin/hooks/{hook}/status"),
	("admin", "/admin/invites", "/admin/invites"),
	("admin", "/admin/sets/new", "/admin/sets/new"),
	("admin", "/admin/sets/*", "/admin/sets/{upload}"),
	("admin", "/admin/host/*", "/admin/host/{worker}"),
	("admin", "/admin/workers", "/admin/workers"),
	("admin", "/admin/device/*/*", "/admin/device/rack1/GPU-1-0"),
	("admin", "/admin/review", "/admin/review"),
	("admin", "/admin/submissions", "/admin/submissions"),
	("admin", "/admin/submissions", "/admin/submissions?user=user7&leaderboard=bench"),
	("admin", "/admin/submission/*", "/admin/submission/{own}"),
	("admin", "/admin/announcements", "/admin/announcements"),
	("admin", "/admin/rejudgings", "/admin/rejudgings"),
	("admin", "/admin/rejudgings/*", "/admin/rejudgings/{rejudging}"),
	("admin", "/admin/rejudgings/*/*", "/admin/rejudgings/{rejudging}/{rejudged}"),
	("admin", "/admin/users", "/admin/users"),
	("admin", "/admin/users", "/admin/users?q=ser7"),
	("admin", "/admin/users/*/ban", "/admin/users/user1/ban"),
	("admin", "/admin/audit", "/admin/audit"),
	("admin", "/admin/audit", "/admin/audit?who=admin&what=user.ban"),
	("admin", "/admin/audit", "/admin/audit?q=user7"),
	("admin", "/admin/audit", "/admin/audit?who=admin&from=2020-01-01&to=2100-01-01"),
]

# Addresses of /api/v1. user1 has a token with all scopes.
CALLS = [
	("anyone", call)
	for call in (
		"/leaderboards?limit=100",
		"/leaderboards/bench",
		"/leaderboards/bench/rankings?gpu=H200&limit=100",
		"/leaderboards/bench/rankings?gpu=H200&cursor=MSAxOTAwIDA",
		"/leaderboards/bench/task",
		"/leaderboards/bench/questions",
		"/contests/cup/teams",
		"/leaderboards/vectoradd_py/files/reference.py",
		"/leaderboards/bench/templates/py",
		"/users/user1",
		"/queue",
		"/workers",
		"/submissions/{submission}",
		"/submissions/{submission}/status",
		"/submissions/{submission}/samples?gpu=H200",
		"/compare?a={submission}&b={other}",
	)
] + [
	("user1", call)
	for call in (
		"/me",
		"/leaderboards?state=active",
		"/leaderboards/bench",
		"/leaderboards/bench/rankings?gpu=H200",
		"/submissions?limit=100",
		"/submissions?mode=ranked&leaderboard=bench",
		"/submissions?gpu=H200&limit=10",
		"/submissions?verdict=passed",
		"/submissions/{own}",
		"/submissions/{own}/status",
		"/submissions/{waiting}",
		"/submissions/{waiting}/status",
		"/submissions/{own}/samples?gpu=H200",
		"/submissions/{own}/source",
		"/submissions/{own}/output?gpu=H200",
		"/compare?a={own}&b={own_other}",
		"/queue",
	)
]

# Slow pages that nobody reads often, so they are measured only once: the export of all of a user's
# data, and the preview of a rejudging, which does the whole work and rolls it back.
MEASURED_ONCE = {"/account/export", "/admin/rejudgings/*"}

# Pages that answer only during a login or a set-up, or with an identity provider.
# tests/integration/site/sign_in.test.py and factors.test.py open them.
IN_A_LOGIN = {"/account/security/app", "/login/factor", "/sign-in/*", "/sign-in/*/callback"}

SET = "name: Autumn\nproblems:\n  - {directory: small, name: small, gpus: [CPU]}\n"
TASK = """lang: py
description: A small task.
files: [{name: submission.py, source: "@SUBMISSION@"}, {name: eval.py, source: eval.py}]
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: 1}]
"""


class Crowd:
	"""The data of `site`, which the constructor loads."""

	def __init__(self, site, submissions=100000, known=None):
		"""`known`: what known() returned for the Crowd that loaded the data, or None to load
		them."""
		self.site = site
		if known:
			self.secret, self.numbers = known["secret"], known["numbers"]
			self.numbers["upload"] = self.upload()  # an upload is deleted after an hour
		else:
			self.load(submissions)

	def known(self):
		return {"secret": self.secret, "numbers": self.numbers}

	def load(self, submissions):
		site, self.secret = self.site, secrets.token_hex(32)
		# Each statement writes a whole table. Many submissions would take hours with the server's
		# usual memory, so give the server more. It keeps the memory until it restarts.
		large = (
			"SET GLOBAL innodb_buffer_pool_size = 4 << 30, "
			"GLOBAL innodb_flush_log_at_trx_commit = 2;"
		)
		site.sql(
			(large if submissions > 200000 else "")
			+ "SET SESSION tx_isolation = 'READ-COMMITTED', foreign_key_checks = 0, "
			f"unique_checks = 0; SET @submissions = {submissions}, "
			f"@secret = '{self.secret}';" + (ROOT / "tests" / "bench" / "data.sql").read_text()
		)
		site.manage("ranking", "rebuild")
		site.sql(
			"ANALYZE TABLE ranking, records, baselines"
		)  # updates the statistics by which the optimizer chooses its plans
		self.load_contest()
		self.load_teams()
		self.load_frozen_contest()
		self.numbers = self.find()

	def token(self, subject):
		return hashlib.sha256(f"{self.secret} {subject}".encode()).digest()

	def client(self, who):
		"""Returns a visitor: "anyone" is anonymous; "admin", "user1", ... are logged in."""
		client = Client(self.site.url)
		name, _, value = self.cookie(who).partition("=")
		client.cookies = {name: value} if name else {}
		return client

	def cookie(self, who):
		return (
			""
			if who == "anyone"
			else "podium=" + base64.urlsafe_b64encode(self.token(who)).rstrip(b"=").decode()
		)

	def bearer(self, who):
		"""Returns a token of the user and creates it on the first call."""
		secret = (
			"podium_" + base64.urlsafe_b64encode(self.token(f"bearer {who}")).rstrip(b"=").decode()
		)
		self.site.sql(
			f"""INSERT IGNORE INTO api_tokens (user_id, name, prefix, token_hash, scopes, used_at)
			SELECT id, 'bearer', 'podium_bearer',
			UNHEX('{hashlib.sha256(secret.encode()).hexdigest()}'), 'read,submit,admin',
			UTC_TIMESTAMP(3) FROM users WHERE name = '{who}'"""
		)
		return secret

	def upload(self):
		"""Uploads a problem set without confirming it. Returns the upload's ID."""
		content = zip_of({"set.yaml": SET, "small/task.yml": TASK, "small/eval.py": "print()\n"})
		answer = self.client("admin").post("/admin/sets/new", files=[("set", "set.zip", content)])
		return answer.location.rsplit("/", 1)[1]

	def find(self):
		"""Finds the IDs and names that replace the words in braces."""
		one = lambda question: self.site.sql(question)[0]
		ranked = (
			"SELECT r.submission_id FROM ranking r JOIN users u ON u.id = r.user_id JOIN "
			"leaderboards l ON l.id = r.leaderboard_id "
			"WHERE l.name = 'bench' AND r.gpu = 'H200' AND "
		)
		passed = (
			"SELECT s.id FROM submissions s JOIN users u ON u.id = s.user_id JOIN leaderboards l "
			"ON l.id = s.leaderboard_id "
			"JOIN jobs j ON j.submission_id = s.id AND j.gpu = 'H200' WHERE l.name = 'bench' AND "
			"u.name = 'user1' AND "
		)
		finding = {
			"submission": ranked + "r.position = 5",
			"other": ranked + "r.position = 6",
			"own": ranked + "u.name = 'user1'",
			"own_other": passed + "j.score_ns IS NOT NULL ORDER BY s.id DESC LIMIT 1",
			"of_team": "SELECT s.id FROM submissions s JOIN users u ON u.id = s.user_id "
			"WHERE u.kind = 'team'",
			"waiting": passed + "j.state = 'queued' LIMIT 1",
			"comparison": "SELECT MIN(id) FROM comparisons",
			"plan": "SELECT MIN(id) FROM plans",
			"hook": "SELECT MAX(id) FROM webhooks",
			"worker": "SELECT name FROM workers ORDER BY id LIMIT 1",
			"rejudging": "SELECT MAX(id) FROM rejudgings",
			"rejudged": "SELECT MIN(id) FROM rejudged_jobs WHERE rejudging_id = (SELECT MAX(id) "
			"FROM rejudgings)",
		}
		numbers = {name: one(question)[0] for name, question in finding.items()}
		numbers["with_artifact"], numbers["artifact"] = one(
			"SELECT j.submission_id, a.id FROM artifacts a "
			"JOIN stages t ON t.id = a.stage_id JOIN jobs j ON j.id = t.job_id"
		)
		return {
			**numbers,
			"link": self.token("link user9").hex(),
			"upload": self.upload(),
			**self.mail_links(),
		}

	def load_contest(self):
		"""Makes "cup", a contest that has ended, with all who are ranked on bench."""
		self.site.sql(
			"""INSERT IGNORE INTO contests (name, title, starts_at, ends_at, started_at, ended_at,
			final_at, rules) VALUES ('cup', 'Cup', '2020-01-01', '2020-01-02', '2020-01-01',
			'2020-01-02', '2020-01-03', '');
			INSERT IGNORE INTO contest_problems (leaderboard_id, contest_id, position)
			SELECT l.id, c.id, 1 FROM leaderboards l JOIN contests c WHERE l.name = 'bench';
			INSERT IGNORE INTO contest_entrants (contest_id, user_id)
			SELECT DISTINCT c.id, r.user_id FROM ranking r JOIN leaderboards l
			ON l.id = r.leaderboard_id JOIN contests c WHERE l.name = 'bench'"""
		)

	def load_frozen_contest(self):
		"""Makes "icy", a contest that has ended with a freeze and is not final."""
		self.site.sql(
			"""INSERT IGNORE INTO contests (name, title, starts_at, ends_at, started_at, ended_at,
			freeze_minutes, rules) VALUES ('icy', 'Icy', '2020-01-01', '2020-01-02', '2020-01-01',
			'2020-01-02', 60, '');
			INSERT IGNORE INTO contest_problems (leaderboard_id, contest_id, position)
			SELECT MIN(l.id), c.id, 1 FROM leaderboards l JOIN contests c
			WHERE l.name <> 'bench' AND c.name = 'icy'"""
		)

	def load_teams(self):
		"""Makes 100 teams of three for "cup", team1 of member1, member2 and member3. team1 has
		submitted to bench."""
		self.site.sql(
			f"""SET @token = UNHEX('{hashlib.sha256(self.token("member1")).hexdigest()}');
			INSERT INTO users (name, password_hash) SELECT CONCAT('member', seq), '!'
			FROM seq_1_to_300;
			INSERT INTO users (name, password_hash, kind) SELECT CONCAT('team', seq), '', 'team'
			FROM seq_1_to_100;
			UPDATE contests SET team_members = 3;
			INSERT INTO teams (user_id, contest_id, code)
			SELECT u.id, c.id, LEFT(MD5(u.name), 24) FROM users u JOIN contests c
			WHERE u.kind = 'team';
			INSERT INTO team_members (team_id, user_id, contest_id)
			SELECT t.user_id, p.id, t.contest_id FROM seq_1_to_300 n
			JOIN users p ON p.name = CONCAT('member', n.seq)
			JOIN users u ON u.name = CONCAT('team', CEIL(n.seq / 3))
			JOIN teams t ON t.user_id = u.id;
			INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256,
			mode) SELECT s.leaderboard_id, s.task_version_id, u.id, 'team.py', s.sha256, 'test'
			FROM submissions s JOIN users u ON u.name = 'team1' JOIN leaderboards l
			ON l.id = s.leaderboard_id WHERE l.name = 'bench' ORDER BY s.id LIMIT 1;
			INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at)
			SELECT @token, id, '192.0.2.1', '', '2100-01-01' FROM users WHERE name = 'member1'"""
		)

	def mail_links(self):
		"""Gives user9 an e-mail address that waits for confirmation, and a visitor without a cookie
		a sign-in that waits for the choice of an account."""
		user9 = int(self.site.sql("SELECT id FROM users WHERE name = 'user9'")[0][0])
		secret, key = self.token("confirmation user9"), self.token("unsubscribe user9")
		self.site.sql(
			f"""INSERT INTO mail_addresses (user_id, pending, pending_hash, pending_until,
			unsubscribe_key) VALUES ({user9}, 'user9@podium.example',
			UNHEX('{hashlib.sha256(secret).hexdigest()}'), '2100-01-01', UNHEX('{key.hex()}'));
			INSERT INTO sign_ins (state_hash, browser_hash, provider, nonce, verifier, next,
			expires_at, issuer, subject, shown_as) VALUES (UNHEX(SHA2('state', 256)),
			UNHEX(SHA2('', 256)), 'none', '', '', '/', '2100-01-01', 'https://podium.example', '1',
			'somebody')"""
		)
		kind = f"{user9}-overtaken"
		signature = hmac.new(
			key, f"unsubscribe {kind.replace('-', ' ')}".encode(), hashlib.sha256
		).hexdigest()
		return {"confirmation": secret.hex(), "unsubscription": f"{kind}-{signature}"}

	def filled(self, address):
		return re.sub(r"\{(\w+)\}", lambda match: self.numbers[match[1]], address)

	def each(self):
		"""Yields (visitor, route, address) of all addresses."""
		for who, route, address in ADDRESSES:
			yield who, route, self.filled(address)

	def calls(self):
		"""Yields (visitor, address) for all of /api/v1."""
		for who, address in CALLS:
			yield who, "/api/v1" + self.filled(address)


def routes():
	"""The patterns of all addresses that answer GET, as in cgi/router.c."""
	return route_table.pages()
