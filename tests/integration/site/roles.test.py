#!/usr/bin/env python3
"""Co-creators and the jury of a leaderboard: what each sees and does, and that a role on one
leaderboard opens nothing of another. A stand-in for podium-run reports what each submission tells
it to."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
import route_table  # noqa: E402
from client import Client  # noqa: E402
from instance import Instance  # noqa: E402
from programs import Program, make_token  # noqa: E402
from small_task import done as ok  # noqa: E402
from small_task import make_board, store_comparison, submit_time  # noqa: E402
from tap import contains, equal, lacks, run, test, until  # noqa: E402

site = Instance(pretends=True, PODIUM_API_REQUESTS_PER_MINUTE="100000", PODIUM_WEBHOOK_SENDERS="0")
sql, value = site.sql, site.value
# carl created "small", dora created "strange". coco and judy have a role on small, olga and nat
# have the same roles on strange.
NAMES = ("root-of-all", "carl", "dora", "coco", "judy", "olga", "nat", "ada", "bob")
clients = {name: Client(site.url) for name in NAMES}
programs, made = {}, {}
OUTSIDERS = ("dora", "olga", "nat", "bob")


def fresh(address):
	return f"{address}{'&' if '?' in address else '?'}x={time.time()}"


def get(who, address):
	return clients[who].get(fresh(address.format(**made)))


def post(who, address, *fields):
	return clients[who].post(address.format(**made), fields, form="/account")


def ask(who, method, path, body=None):
	return programs[who].ask(method, f"/api/v1/{path.format(**made)}", body)


def give(who, user, role, board="small"):
	return post(
		who, f"/admin/leaderboard/{board}/roles", ("action", "give"), ("user", user), ("role", role)
	)


def take(who, user):
	return post(
		who,
		"/admin/leaderboard/small/roles",
		("action", "take"),
		("user", user),
		("confirm", "yes"),
	)


def moderate(who, number, action, reason="It is odd."):
	return post(
		who,
		f"/admin/submission/{number}",
		("action", action),
		("reason", reason),
		("confirm", "yes"),
	)


def set_visibility(visibility):
	sql(f"UPDATE leaderboards SET visibility = '{visibility}' WHERE name = 'small'")


# Each use of a session or token writes to these.
USED = {"api_requests", "api_tokens", "sessions"}


def manage(*words):
	return site.admin(*words).stdout.strip()


def state():
	return site.checksums(USED)


@test
def the_fixtures_are_created():
	for name, client in clients.items():
		client.register(name)
	sql(
		"UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; UPDATE users SET role = "
		"'creator' WHERE name IN ('carl', 'dora')"
	)
	make_board(clients["carl"], "small")
	make_board(clients["dora"], "strange")
	for who, board, names in (
		("carl", "small", ("coco", "judy")),
		("dora", "strange", ("olga", "nat")),
	):
		for name, role in zip(names, ("co-creator", "jury")):
			ok(give(who, name, role, board))
	made["ada"] = submit_time(clients["ada"], 3000.0, stdout="a printed secret")
	made["bob"] = submit_time(clients["bob"], 5000.0)
	made["comparison"] = store_comparison(site, made["bob"], made["ada"])
	made["odd"] = submit_time(clients["ada"], 2000.0)
	made["held"] = submit_time(clients["ada"], 1000.0)
	made["alien"] = submit_time(clients["bob"], 4000.0, board="strange")
	ok(moderate("root-of-all", made["held"], "hold"))
	for name in NAMES:
		scopes = ["read", "submit"] + ["admin"] * (name not in ("ada", "bob"))
		programs[name] = Program(site.url, make_token(clients[name], "all", *scopes))
	made["hook"] = ok(
		post(
			"carl",
			"/admin/leaderboard/small/hooks",
			("name", "ours"),
			("address", "https://chat.example.org/"),
			("form", "json"),
			("event", "ended"),
		)
	).location.rsplit("/", 1)[1]
	made["rejudging"] = ok(
		post("carl", "/admin/rejudgings", ("scope", "submission"), ("submission", str(made["bob"])))
	).location.rsplit("/", 1)[1]
	until(lambda: "waits for you" in get("carl", "/admin/rejudgings/{rejudging}").words())
	made["result"] = value("SELECT MAX(id) FROM rejudged_jobs")


# ---- a role ----


@test
def roles_are_listed_given_replaced_and_taken():
	equal(
		[
			(one["user"], one["role"], one["given_by"])
			for one in ask("carl", "GET", "admin/leaderboards/small/roles").json["items"]
		],
		[("coco", "co-creator", "carl"), ("judy", "jury", "carl")],
	)
	contains(get("coco", "/admin/leaderboard/small/roles").words(), "judy jury")
	lacks(get("coco", "/admin/leaderboard/small/roles").text, 'value="give"')
	for user, role, field in (("nobody-here", "jury", "user"), ("bob", "king", "role")):
		answer = give("carl", user, role)
		equal(answer.status, 422)
		contains(answer.text, f'id="{field}-error"')
	equal(ask("carl", "PUT", "admin/leaderboards/small/roles/bob", {"role": "jury"}).status, 204)
	ok(give("carl", "bob", "co-creator"))
	equal(
		sql(
			"SELECT r.role FROM leaderboard_roles r JOIN users u ON u.id = user_id "
			"WHERE u.name = 'bob'"
		),
		[["co-creator"]],
	)
	equal(ask("carl", "DELETE", "admin/leaderboards/small/roles/bob").status, 204)
	equal(take("carl", "bob").status, 404)
	asked = post("carl", "/admin/leaderboard/small/roles", ("action", "take"), ("user", "judy"))
	contains(asked.words(), "Take the role of judy on small away?")
	equal(
		sql(
			"SELECT actor, subject, detail FROM audit_log WHERE action = 'leaderboard.role' "
			"ORDER BY id DESC LIMIT 3"
		),
		[
			["carl", "small", "bob: none, was co-creator"],
			["carl", "small", "bob: co-creator, was jury"],
			["carl", "small", "bob: jury, was none"],
		],
	)


@test
def podium_admin_gives_and_takes_roles():
	equal(manage("role", "give", "small", "bob", "jury"), "bob has the role jury on small now.")
	contains(manage("role", "list", "small"), "bob")
	equal(manage("role", "take", "small", "bob"), "bob has no role on small now.")


@test
def only_the_creator_and_admins_give_roles():
	for who in ("coco", "judy", *OUTSIDERS):
		equal((who, give(who, "bob", "jury").status), (who, 403))
		equal((who, take(who, "judy").status), (who, 403))
	for who in ("coco", "judy", "dora", "olga"):
		answer = ask(who, "PUT", "admin/leaderboards/small/roles/olga", {"role": "co-creator"})
		equal((who, answer.status), (who, 403))
	equal(value("SELECT COUNT(*) FROM leaderboard_roles"), "4")


# ---- the jury ----

# Addresses that show the board or something of it.
SHOWN = [
	"/leaderboard/small",
	"/leaderboard/small.json",
	"/leaderboard/small?view=submissions",
	"/leaderboard/small/task",
	"/submission/{ada}",
	"/submission/{ada}/source",
	"/submission/{odd}",
	"/submission/{held}",
	"/comparison/{comparison}",
	"/compare?a={ada}&b={bob}",
	"/admin/submissions?leaderboard=small",
	"/admin/leaderboard/small/unfrozen",
]
CALLS = ["leaderboards/small", "submissions/{ada}", "submissions/{odd}", "submissions/{ada}/source"]


@test
def the_jury_sees_hidden_boards_submissions_sources_and_logs():
	ok(moderate("carl", made["odd"], "hide"))
	for visibility in ("public", "hidden"):
		set_visibility(visibility)
		for who in ("carl", "coco", "judy", "root-of-all"):
			for address in SHOWN:
				equal(
					(visibility, who, address, get(who, address).status),
					(visibility, who, address, 200),
				)
			for call in CALLS:
				equal(
					(visibility, who, call, ask(who, "GET", call).status),
					(visibility, who, call, 200),
				)
			contains(get(who, "/submission/{ada}").text, "a printed secret")
			contains(get(who, "/submission/{odd}").words(), "It is odd.")
			contains(get(who, "/").text, "/leaderboard/small")
			contains(get(who, "/admin").text, "/leaderboard/small")
	set_visibility("public")


@test
def the_jury_sees_held_times_and_times_after_a_freeze():
	for who in ("carl", "coco", "judy"):
		equal((who, ask(who, "GET", "submissions/{held}").json["jobs"][0]["score_ns"]), (who, 1000))
	for who in OUTSIDERS:
		equal((who, ask(who, "GET", "submissions/{held}").json["jobs"][0]["score_ns"]), (who, None))
	ok(
		post(
			"carl", "/admin/leaderboard/small/publishing", ("action", "freeze"), ("confirm", "yes")
		)
	)
	late = made["late"] = submit_time(clients["bob"], 1500.0)
	for who in ("carl", "coco", "judy"):
		equal(
			(who, ask(who, "GET", f"submissions/{late}").json["jobs"][0]["score_ns"]), (who, 1500)
		)
	equal(ask("ada", "GET", f"submissions/{late}").json["jobs"][0]["score_ns"], None)


@test
def the_jury_sees_the_true_ranking_during_a_freeze():
	def standing():
		return sql("SELECT user_id, place, score_ns FROM ranking ORDER BY 1, 2"), state()

	before = standing()
	equal(
		[
			(one["user"], one["rank"], one["public_rank"])
			for one in ask("judy", "GET", "admin/leaderboards/small/unfrozen").json["items"]
		],
		[("bob", 1, 2), ("ada", 2, 1)],
	)
	contains(get("judy", "/admin/leaderboard/small/unfrozen").words(), "bob 1.500 µs")
	contains(manage("ranking", "unfrozen", "small"), "bob")
	contains(get("judy", "/leaderboard/small").text, "/admin/leaderboard/small/unfrozen")
	lacks(get("bob", "/leaderboard/small").text, "unfrozen")
	equal(
		[row["user"] for row in get("judy", "/leaderboard/small.json?gpu=H200").json["rows"]],
		["ada", "bob"],
	)
	equal(standing(), before)
	answers = [ask("judy", "GET", "admin/leaderboards/small/unfrozen") for _ in range(30)]
	equal((answers[0].status, answers[-1].status), (200, 429))
	contains(answers[-1].json["detail"], "You asked too often for a ranking without its freeze.")
	equal(get("judy", "/admin/leaderboard/small/unfrozen").status, 429)
	ok(post("carl", "/admin/leaderboard/small/publishing", ("action", "lift"), ("confirm", "yes")))


@test
def the_jury_changes_nothing_by_the_api():
	before = state()
	examples = {
		"leaderboards": "small",
		"submissions": str(made["ada"]),
		"rejudgings": made["rejudging"],
		"webhooks": made["hook"],
		"versions": "1",
		"roles": "coco",
	}
	for method, pattern, access, scope, _ in route_table.calls():
		parts = pattern.removeprefix("/api/v1/").split("/")
		if scope != "admin" or "*" not in parts or method == "get":
			continue
		path = "/".join(
			examples.get(parts[i - 1], "1") if part == "*" else part for i, part in enumerate(parts)
		)
		answer = ask("judy", method.upper(), path, {})
		equal((method, path, answer.status in (403, 404)), (method, path, True))
	equal(
		ask("judy", "POST", "admin/rejudgings", {"scope": "all", "leaderboard": "small"}).status,
		403,
	)
	equal(post("judy", "/submission/{ada}/cancel", ("number", str(made["ada"]))).status, 403)
	equal(state(), before)


# ---- co-creators ----


@test
def a_co_creator_hides_shows_holds_and_rejudges():
	number = submit_time(clients["bob"], 1200.0)
	for action in ("hide", "show", "hold"):
		ok(moderate("coco", number, action))
	equal(
		sql(
			f"SELECT actor, action FROM audit_log WHERE subject = 'submission {number}' ORDER BY id"
		),
		[["coco", f"submission.{action}"] for action in ("hide", "show", "hold")],
	)
	equal(
		[
			ask("coco", "POST", f"admin/submissions/{number}/{action}", {"reason": "odd"}).status
			for action in ("hide", "hold")
		],
		[204, 409],
	)
	equal(ask("coco", "POST", f"admin/submissions/{number}/show").status, 204)
	contains(get("coco", "/admin/rejudgings").text, f'/admin/rejudgings/{made["rejudging"]}"')
	ok(post("coco", "/admin/rejudgings/{rejudging}", ("action", "discard"), ("name", "small")))


@test
def only_admins_rank_what_is_held():
	held = made["held"]
	number = ok(
		post("coco", "/admin/rejudgings", ("scope", "submission"), ("submission", str(held)))
	).location.rsplit("/", 1)[1]
	until(lambda: "waits for you" in get("coco", f"/admin/rejudgings/{number}").words())
	answer = post("coco", f"/admin/rejudgings/{number}", ("action", "apply"), ("name", "small"))
	equal(answer.status, 403)
	contains(answer.words(), "An admin must apply this rejudging")
	equal(
		post(
			"coco",
			"/admin/review",
			("action", "release"),
			("submission", str(held)),
			("gpu", "H200"),
		).status,
		403,
	)
	equal(ask("coco", "POST", f"admin/submissions/{held}/release", {"gpu": "H200"}).status, 403)
	equal(
		sql(f"SELECT held_at IS NOT NULL, released_by FROM jobs WHERE submission_id = {held}"),
		[["1", "NULL"]],
	)
	ok(post("root-of-all", f"/admin/rejudgings/{number}", ("action", "apply"), ("name", "small")))


@test
def a_co_creator_cannot_delete_the_board_or_create_one():
	equal(post("coco", "/admin/leaderboard/small/delete", ("name", "small")).status, 403)
	equal(ask("coco", "DELETE", "admin/leaderboards/small", {"confirm": "small"}).status, 403)
	equal(get("coco", "/admin/leaderboards/new").status, 403)
	equal(ask("coco", "POST", "admin/leaderboards", {"name": "twin"}).status, 403)
	equal(post("coco", "/admin/leaderboard/small/clone", ("name", "twin")).status, 403)
	equal(ask("coco", "PATCH", "admin/leaderboards/small", {"accepting": True}).status, 200)


# ---- another board ----


@test
def a_role_on_another_board_opens_nothing_of_a_hidden_one():
	set_visibility("hidden")
	before = state()
	admin_pages = [
		pattern.replace("*", "small", 1).replace("*", "1")
		for pattern in route_table.pages("GET")
		if pattern.startswith("/admin/leaderboard/*/")
	]
	equal(len(admin_pages) > 10, True)
	numbered = ["/admin/submission/{ada}", "/admin/rejudgings/{rejudging}", "/admin/hooks/{hook}"]
	numbered += ["/admin/rejudgings/{rejudging}/{result}", "/submission/{ada}/cancel"]
	for who in ("dora", "olga", "nat"):
		for address in [*SHOWN, *admin_pages, *numbered]:
			answer = get(who, address)
			# A page for accounts with the role creator refuses others before it looks.
			expected = 403 if address.endswith("/clone") and who != "dora" else 404
			equal((who, address, answer.status), (who, address, expected))
			lacks(answer.text.replace('small"', ""), "printed secret")
		for call in CALLS:
			equal((who, call, ask(who, "GET", call).status), (who, call, 404))
		for address in ("/", "/queue", "/admin", "/admin/rejudgings", "/admin/invites", "/archive"):
			lacks(get(who, address).text, "/leaderboard/small")
		lacks(get(who, "/admin/rejudgings").text, f'/admin/rejudgings/{made["rejudging"]}"')
	equal(state(), before)
	set_visibility("public")


@test
def a_role_on_another_board_changes_nothing_of_this_one():
	before = state()
	examples = {
		"leaderboards": "small",
		"submissions": str(made["ada"]),
		"rejudgings": made["rejudging"],
		"webhooks": made["hook"],
		"versions": "1",
		"roles": "coco",
	}
	for who in ("dora", "olga", "nat"):
		for method, pattern, access, scope, _ in route_table.calls():
			parts = pattern.removeprefix("/api/v1/").split("/")
			if scope != "admin" or access != "STAFF" or "*" not in parts:
				continue
			path = "/".join(
				examples.get(parts[i - 1], "1") if part == "*" else part
				for i, part in enumerate(parts)
			)
			answer = ask(who, method.upper(), path, None if method == "get" else {})
			equal((who, method, path, answer.status in (403, 404)), (who, method, path, True))
		for method, pattern, access, scope, _ in route_table.calls("popcorn"):
			if scope != "admin" or access != "STAFF" or "*" not in pattern:
				continue
			path = pattern.replace("submissions/*", f"submissions/{made['ada']}")
			path = path.replace("leaderboards/*", "leaderboards/small").replace("*", "test")
			answer = programs[who].ask(method.upper(), path, None if method == "get" else {})
			# The list of codes has only the sender's own.
			codes = path.endswith("/invites")
			equal(
				(
					who,
					method,
					path,
					answer.json["invites"] if codes else answer.status in (403, 404),
				),
				(who, method, path, [] if codes else True),
			)
		for scope, fields in (
			("submission", {"submission": made["ada"]}),
			("user", {"user": "ada", "leaderboard": "small"}),
			("all", {"leaderboard": "small"}),
			("everywhere", {"user": "ada"}),
			("top", {"leaderboard": "small", "gpu": "H200", "top": 1}),
		):
			answer = ask(who, "POST", "admin/rejudgings", {"scope": scope, **fields})
			equal((who, scope, answer.status), (who, scope, 403))
		answer = post(who, "/admin/invites", ("action", "make"), ("leaderboard", "small"))
		equal((who, answer.status), (who, 422))
		equal((who, moderate(who, made["ada"], "hide").status), (who, 403))
	equal(state(), before)


# ---- losing a role ----


@test
def a_role_that_is_taken_opens_nothing_any_more():
	set_visibility("hidden")
	for who in ("coco", "judy"):
		equal(get(who, "/admin").status, 200)
		ok(take("carl", who))
		equal((who, get(who, "/admin").status), (who, 403))
		equal((who, get(who, "/leaderboard/small").status), (who, 404))
		equal((who, get(who, "/submission/{ada}/source").status), (who, 404))
		equal((who, ask(who, "GET", "submissions/{ada}").status), (who, 404))
		equal((who, ask(who, "GET", "admin/leaderboards/small").status), (who, 403))
	sql("UPDATE users SET role = 'participant' WHERE name = 'carl'")
	equal(get("carl", "/leaderboard/small").status, 404)
	equal(get("carl", "/admin/leaderboard/small/edit").status, 403)


try:
	code = run()
finally:
	site.remove()
sys.exit(code)
