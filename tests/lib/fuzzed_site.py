"""A site for programs that send /api/v1 invented requests: with a leaderboard, a contest and
submissions, and without any deliveries, so that an invented webhook reaches nobody."""

from client import Client
from instance import Instance
from programs import Program, make_token
from small_task import case, make_board, register, source_of

ROLES = {"ada": ("read", "submit"), "root-of-all": ("read", "submit", "admin")}
KEPT = ("api_tokens", "sessions")
CONTEST = {
	"name": "cup",
	"title": "The cup",
	"starts_at": "2026-01-01T00:00:00Z",
	"ends_at": "2099-01-01T00:00:00Z",
	"problems": ["small"],
}


def make_site():
	"""Returns the site, a token of each role, and the admin's browser. The site has no mail server,
	and podium-hooks sends nothing."""
	site = Instance(
		pretends=True, PODIUM_API_REQUESTS_PER_MINUTE="1000000", PODIUM_WEBHOOK_SENDERS="0"
	)
	users = {name: Client(site.url) for name in (*ROLES, "bob", "carl")}
	register(site, users)
	tokens = {name: make_token(users[name], "fuzz", *scopes) for name, scopes in ROLES.items()}
	for table in KEPT:
		site.sql(f"CREATE TABLE kept_{table} AS SELECT * FROM {table}")
	admin = users["root-of-all"]
	restore(site, tokens, admin)
	for token in tokens.values():
		answer = Program(site.url, token).hand_in("other", source=source_of(case(1000)).encode())
		if answer.status != 201:
			raise AssertionError(answer.text)
	return site, tokens, admin


def restore(site, tokens, admin):
	"""Brings back what invented requests have taken away: a ban deletes tokens, and an admin
	deletes leaderboards. Otherwise most later requests would be refused for these reasons."""
	site.sql(
		"UPDATE users SET banned_at = NULL, role = CASE name WHEN 'root-of-all' THEN 'admin' "
		"WHEN 'carl' THEN 'creator' ELSE 'participant' END"
	)
	for table in KEPT:
		site.sql(f"REPLACE INTO {table} SELECT * FROM kept_{table}")
	site.sql(
		"UPDATE leaderboards SET visibility = 'public', accepting = TRUE, deadline = NULL, "
		"archived_at = NULL WHERE name IN ('small', 'other')"
	)
	known = {name for (name,) in site.sql("SELECT name FROM leaderboards")}
	for name in {"small", "other"} - known:
		make_board(admin, name)
	if site.value("SELECT COUNT(*) FROM contests WHERE name = 'cup'") == "0":
		program = Program(site.url, tokens["root-of-all"])
		answer = program.ask("POST", "/api/v1/admin/contests", CONTEST)
		if answer.status != 201:
			raise AssertionError(answer.text)


def check_unharmed(site):
	"""Checks that the site has logged no error, and that podium-hooks has sent nothing."""
	errors = [
		line for line in (site.var / "log" / "web.log").read_text().splitlines() if "=error" in line
	]
	if errors:
		raise AssertionError("\n".join(errors[:10]))
	attempts = site.value("SELECT COALESCE(SUM(attempts), 0) FROM webhook_deliveries")
	if attempts != "0":
		raise AssertionError(f"podium-hooks tried to deliver {attempts} times")
