#!/usr/bin/env python3
"""The audit log is searched by who, what and when."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "lib"))
from client import Client, Page  # noqa: E402
from instance import Instance  # noqa: E402
from tap import contains, equal, lacks, run, test  # noqa: E402

site = Instance()
sql = site.sql
PASSWORD = "a long password"

admin, ada = (Client(site.url) for _ in range(2))


def words(query=""):
	answer = admin.get(f"/admin/audit?{query}")
	equal(answer.status, 200)
	reader = Page()
	reader.feed(answer.text)
	equal((reader.faults, reader.stack, len(reader.ids)), ([], [], len(set(reader.ids))))
	return answer.words()


def details(query):
	shown = words(query)
	return [name for name in ("first", "second", "third", "fourth") if f"{name} detail" in shown]


@test
def changes_are_found_by_who_what_of_what_and_when():
	for client, name in ((admin, "root-of-all"), (ada, "ada")):
		equal(client.post("/register", [("name", name), ("password", PASSWORD)]).status, 303)
	sql("UPDATE users SET role = 'admin' WHERE name = 'root-of-all'; INSERT INTO audit_log (at, actor, address, action, subject, detail) VALUES "
		"('2025-01-01 23:59:59.999', 'eve', '', 'user.ban', 'ada', 'first detail'), ('2025-01-02 00:00:00', 'bob', '', 'user.ban', 'carl', 'second detail <b>'), "
		"('2025-01-02 23:59:59.999', 'eve', '', 'worker.pause', 'here', 'third detail'), ('2025-01-03 00:00:00', 'eve', '', 'user.ban', 'größe', 'fourth detail 100%')")
	for query, found in (("", ["first", "second", "third", "fourth"]), ("who=eve", ["first", "third", "fourth"]), ("who=ev", []), ("what=user.ban", ["first", "second", "fourth"]),
			("who=eve&what=user.ban", ["first", "fourth"]), ("q=here", ["third"]), ("q=gr%C3%B6%C3%9Fe", ["fourth"]), ("q=100%25", ["fourth"]), ("q=%25", ["fourth"]),
			("from=2025-01-02", ["second", "third", "fourth"]), ("from=2025-01-02&to=2025-01-02", ["second", "third"]), ("to=2025-01-01", ["first"]),
			("who=eve&what=user.ban&q=größe&from=2025-01-03&to=2025-01-03".replace("ö", "%C3%B6").replace("ß", "%C3%9F"), ["fourth"]),
			("who=%C3%BC", []), ("what=%C3%BC", [])):
		equal((query, details(query)), (query, found))
	contains(words("who=nobody"), "No change fits this search.")
	contains(words("from=yesterday"), "This is no day")


@test
def long_results_go_on_with_the_same_question():
	sql("INSERT INTO audit_log (at, actor, address, action, subject, detail) SELECT '2025-02-01', 'eve', '', 'user.ban', 'x', CONCAT('number ', seq, '.') FROM seq_1_to_150")
	first = admin.get("/admin/audit?who=eve&what=user.ban&q=number")
	contains(first.words(), "number 150.")
	lacks(first.words(), "number 50.")
	older = next(line for line in first.text.split('"') if "before=" in line).replace("&amp;", "&")
	contains(older, "who=eve&what=user.ban&q=number")
	second = admin.get(older).words()
	contains(second, "number 50.")
	lacks(second, "number 150.")
	lacks(second, "first detail")


@test
def it_is_the_admins_alone():
	equal(ada.get("/admin/audit?who=eve").status, 403)


code = 1
try:
	code = run()
finally:
	site.remove()
sys.exit(code)

