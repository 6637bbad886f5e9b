"""Makes rows for every table of a database from the descriptions of its columns. The values are
hostile text, every byte, NULL, the limits of numbers, and each member of an ENUM. Row `i` of a
table refers to row `i` of other tables, so that foreign keys are satisfied."""

import hashlib
import re

HOSTILE = "'\"`\\; -- \n\r\t\x1a/* */ \\! id ☃😀‮ä</script>{{x}}%s\x00end"
ASCII = "a'\"`\\;--%s<b>&"
BYTES = bytes(range(256)) + b"\\'\"\n\x00\x1a" * 3
DOUBLES = [
	"0",
	"0.1",
	"1e308",
	"-1.7976931348623157e308",
	"4.9e-324",
	"1234567.000000001",
	"3.3333333333333335",
]
# Columns that the schema's constraints keep NULL in these rows. Each job here belongs to a
# submission, so it belongs to no comparison and no rejudging. A rejudging has one subject, which
# here is not a user.
ALWAYS_NULL = {("jobs", "comparison_id"), ("jobs", "rejudged_id"), ("rejudgings", "user_id")}
NOT_OURS = {"schema_migrations"}


def one_row(sql, database):
	return {
		row[0]
		for row in sql(
			"SELECT table_name FROM information_schema.check_constraints WHERE constraint_schema = "
			f"'{database}' AND check_clause = '`id` = 1'"
		)
	}


def columns(sql, database):
	"""Returns {table: [column, ...]}. A column is a tuple of what value() needs to know."""
	found, single = {}, one_row(sql, database)
	rows = sql(
		"SELECT table_name, column_name, data_type, COALESCE(character_maximum_length, 0), "
		"COALESCE(character_set_name, ''), is_nullable, "
		"column_key, REPLACE(column_type, '\\n', ' ') FROM information_schema.columns JOIN "
		"information_schema.tables t USING (table_schema, table_name) "
		f"WHERE table_schema = '{database}' AND t.table_type = 'BASE TABLE' "
		"AND is_generated = 'NEVER' ORDER BY table_name, ordinal_position"
	)
	for table, name, kind, length, charset, nullable, key, full in rows:
		if table not in NOT_OURS:
			found.setdefault(table, []).append(
				(
					name,
					kind,
					int(length),
					charset,
					nullable == "YES",
					bool(key),
					full,
					table in single,
				)
			)
	return found


def literal(text):
	return "_utf8mb4 X'" + text.encode().hex() + "'"


def of_text(i, length, charset, key):
	body = str(i) + ("" if key and length <= 48 else HOSTILE if charset == "utf8mb4" else ASCII)
	return literal(body[:length] if length < 65536 else body)


def members(full):
	return [part.replace("''", "'") for part in full[full.index("(") + 2 : -2].split("','")]


def value(table, column, i, number):
	name, kind, length, charset, nullable, key, full, _ = column
	if (table, name) in ALWAYS_NULL or (nullable and not key and i % 3 == 0):
		return "NULL"
	if kind in ("enum", "set"):
		return literal(members(full)[i % len(members(full))])
	if kind in ("varchar", "char", "text", "mediumtext", "longtext", "tinytext"):
		return of_text(i, length, charset, key)
	if kind in ("binary", "varbinary"):
		return "X'" + hashlib.sha256(f"{i}".encode()).hexdigest()[: 2 * length] + "'"
	if kind in ("blob", "mediumblob", "longblob", "tinyblob"):
		return "X'" + (BYTES + str(i).encode()).hex() + "'"
	if kind == "double":
		return DOUBLES[i % len(DOUBLES)]
	if kind == "datetime":
		return f"'2024-0{1 + i % 9}-1{i % 10} 23:59:59.{i % 1000:03}' + INTERVAL {i} SECOND"
	if kind == "date":
		return f"'2024-01-01' + INTERVAL {i} DAY"
	if kind == "tinyint":
		return str(i % 2)
	if kind in ("bigint", "int", "smallint"):
		return str(i)
	raise AssertionError(f"{table}.{name}: unknown type {kind}")


def insert(table, table_columns, first, count):
	single = table_columns[0][-1]  # whether a constraint allows at most one row in this table
	if single:
		first, count = 1, 1
	rows = ",".join(
		"(" + ",".join(value(table, column, i, n) for n, column in enumerate(table_columns)) + ")"
		for i in range(first, first + count)
	)
	names = ",".join(f"`{column[0]}`" for column in table_columns)
	return f"INSERT {'IGNORE ' if single else ''}INTO `{table}` ({names}) VALUES {rows};\n"


def fill(run, tables, first, count):
	"""Inserts rows `first` to `first + count - 1` into each table of `tables` (from columns())."""
	run(
		"SET sql_mode = 'TRADITIONAL', foreign_key_checks = 0; "
		+ "".join(insert(table, known, first, count) for table, known in tables.items())
	)


def contents(sql, tables):
	"""Returns {table: rows} with the columns in `tables`, each value in hexadecimal."""
	rows, questions = {table: [] for table in tables}, []
	for table, known in tables.items():
		names = ", '|', ".join(f"COALESCE(HEX(`{column[0]}`), 'NULL')" for column in known)
		questions.append(f"SELECT '{table}', CONCAT({names}) FROM `{table}`;")
	for table, row in sql(" ".join(questions)) if questions else []:
		rows[table].append(row)
	return {table: sorted(lines) for table, lines in rows.items()}


def definitions(sql, tables):
	"""Returns each table's CREATE TABLE statement without its next AUTO_INCREMENT value."""
	shown = sql(" ".join(f"SHOW CREATE TABLE `{table}`;" for table in tables))
	return {row[0]: re.sub(r" AUTO_INCREMENT=\d+", "", row[1]) for row in shown}
