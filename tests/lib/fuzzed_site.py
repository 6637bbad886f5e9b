"""A site for programs that send /api/v1 invented requests: with a leaderboard, a contest and
submissions, and without any deliveries, so that an invented webhook reaches nobody."""

from client import Client
from instance import Instance
from programs import Program, make_token
from small_task import case, make_board, register, source_of

ROLES = {"ada": ("read", "submit"), "root-of-all": ("read", "submit", "admin")}
CONTEST = {
	"name": "cup",
	"title": "The cup",
	"starts_at": "2026-01-01T00:00:00Z",
	"ends_at": "2099-01-01T00:00:00Z",
	"problems": ["small"],
}


def make_site():
	"""Returns the site and a token of each role. It has no mail server, and podium-hooks sends
	nothing."""
	site = Instance(
		pretends=True, PODIUM_API_REQUESTS_PER_MINUTE="1000000", PODIUM_WEBHOOK_SENDERS="0"
	)
	users = {name: Client(site.url) for name in (*ROLES, "bob", "carl")}
	register(site, users)
	admin = users["root-of-all"]
	for name in ("small", "other"):
		make_board(admin, name)
	tokens = {name: make_token(users[name], "fuzz", *scopes) for name, scopes in ROLES.items()}
	programs = {name: Program(site.url, token) for name, token in tokens.items()}
	answer = programs["root-of-all"].ask("POST", "/api/v1/admin/contests", CONTEST)
	if answer.status != 201:
		raise AssertionError(answer.text)
	for program in programs.values():
		answer = program.hand_in("other", source=source_of(case(1000)).encode())
		if answer.status != 201:
			raise AssertionError(answer.text)
	return site, tokens


def check_unharmed(site):
	"""The site has reported no error, and told nobody anything."""
	errors = [
		line for line in (site.var / "log" / "web.log").read_text().splitlines() if "=error" in line
	]
	if errors:
		raise AssertionError("\n".join(errors[:10]))
	attempts = site.value("SELECT COALESCE(SUM(attempts), 0) FROM webhook_deliveries")
	if attempts != "0":
		raise AssertionError(f"podium-hooks tried to deliver {attempts} times")
