// Fills a site with everything that is hard to show: the longest names, many participants, and
// every state of a submission, a leaderboard and a device. Writes with SQL what would take long
// through forms.
import { createHmac } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLeaderboard, EVAL, fillAndSend, logInAsAdmin, PASSWORD, register, RIGHT, sourceFile,
	submit, taskZip, verdictOf, visit, zipOf } from './visitor.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

// Returns the rows of the last statement as lists of words.
export function sql(statements) {
	const { PODIUM_DATABASE_SOCKET: socket, PODIUM_DATABASE_NAME: name } = process.env;
	const text = execFileSync('mariadb', ['--no-defaults', '-S', socket, '-N', '-B', name],
		{ input: statements, encoding: 'utf8' });
	return text.split('\n').slice(0, -1).map((line) => line.split('\t'));
}

export const rebuildRanking = () =>
	execFileSync(join(ROOT, process.env.B ?? 'build/release', 'podium-admin'),
	['ranking', 'rebuild']);

// ---- names ----

export const LONG_BOARD = 'a_leaderboard_whose_name_is_as_long_as_names_may_be_' + 'x'.repeat(12),
	CROWD = 'crowded';
export const LONG_USER = 'W'.repeat(32), LONG_TEAM = 'T'.repeat(32), CREATOR = 'M'.repeat(32),
	LONG_WORKER = 'worker-'.padEnd(64, 'w'), DEVICE = 'GPU-'.padEnd(40, '0');
const LONG_FILE = 'a_file_name_without_any_place_to_break_it_'.repeat(4) + '.py';
const DESCRIPTION = `# A heading

A very long word: ${'w'.repeat(300)}, and \`${'code'.repeat(60)}\`.

| ${Array.from({ length: 14 }, (_, i) => `column ${i}`).join(' | ')} |
|${'---|--:|'.repeat(7)}
| ${Array.from({ length: 14 }, (_, i) => i * 1e9).join(' | ')} |

    ${'a line of code that goes on, '.repeat(20)}

- [x] done
- [ ] not yet

![a picture of elsewhere](https://example.org/picture.png) <img src="https://example.org/other.png">
<script src="https://example.org/script.js"></script> [a link](https://example.org/)
`;
const NOISY = `import sys
print("${'out'.repeat(200)}")
print("\\x1b[31m<b>red</b>", file=sys.stderr)

def custom_kernel(number):
    return "${'a wrong answer without end '.repeat(20)}"
`;
const CROWD_TASK = `lang: py
description: "Add two vectors."
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{number: 1}, {number: 22}]
benchmarks: [{number: 1024}, {number: 65536}, {number: 1000000}]
templates: {Python: template.py}
podium: {bytes: 12 * number}
`;
const SET_TASK = `lang: py
description: Add one.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: ../eval.py}
config: {main: eval.py}
tests: [{number: 1}]
benchmarks: [{number: 4}]
`;
const SET = zipOf('set.zip', {
	'problems/autumn.yaml': 'name: Autumn\nproblems:\n'
		+ '  - {directory: week/one, name: autumn_one, gpus: [CPU], deadline: "2090-01-01"}\n'
		+ `  - {directory: week/two, name: ${CROWD}, gpus: [CPU]}\n`
		+ '  - {directory: week/three, name: autumn_three}\n',
	'problems/week/eval.py': EVAL, 'problems/week/one/task.yml': SET_TASK,
	'problems/week/two/task.yml': SET_TASK,
});

// ---- rows ----

// 130 participants with three results each over the last weeks, on two devices, in two languages,
// with ties.
const CROWD_ROWS = `
SET @board = (SELECT id FROM leaderboards WHERE name = '${CROWD}'),
	@version = (SELECT task_version_id FROM leaderboards WHERE name = '${CROWD}');
UPDATE task_engines SET engine = 'isolated' WHERE task_version_id = @version;
INSERT INTO users (name, password_hash)
	SELECT IF(seq < 3, REPEAT(CHAR(64 + seq), 32), CONCAT('participant', seq)), '!'
	FROM seq_1_to_130;
INSERT INTO blobs (sha256, size, content)
	SELECT UNHEX(SHA2(CONCAT(seq, name), 256)), LENGTH(CONCAT(seq, name)), CONCAT(seq, name)
	FROM users, seq_1_to_3 WHERE password_hash = '!' OR name = '${LONG_USER}';
INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode, dialect,
	submitted_at, note)
  SELECT @board, @version, u.id, '${LONG_FILE}', UNHEX(SHA2(CONCAT(seq, name), 256)), 'ranked',
	IF(u.id % 4, 'pytorch', 'triton'), UTC_TIMESTAMP() - INTERVAL 40 - 10 * seq - u.id % 9 DAY,
    IF(seq = 3, 'Tiles of 128 by 64, and the loads in two stages.', '')
  FROM users u, seq_1_to_3 WHERE u.password_hash = '!' OR u.name = '${LONG_USER}'
	ORDER BY seq, u.id;
INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, reason, score_ns, score_err_ns,
	engine, queued_at, started_at, finished_at)
  SELECT s.id, s.user_id, g.gpu, 'done', 'passed', '',
	3000 + (s.user_id * 7919 % 1000) * 10 + 4e5 / (s.id - @@auto_increment_offset), 5,
	'isolated',
    s.submitted_at, s.submitted_at, s.submitted_at + INTERVAL 5 SECOND
  FROM submissions s, (SELECT 'H200' AS gpu UNION SELECT 'B200') g WHERE s.leaderboard_id = @board;
UPDATE jobs j JOIN submissions s ON s.id = j.submission_id JOIN users u ON u.id = s.user_id
	SET j.score_ns = 3100 WHERE u.name IN ('participant7', 'participant8') AND j.gpu = 'H200';
INSERT INTO stages (job_id, position, name, verdict, message, exit_code, duration_ms, command,
	stdout, stderr)
  SELECT j.id, seq, ELT(seq + 1, 'compile', 'test', 'ranked'), 'passed', '', 0, 1200,
	'python3 eval.py', '', '' FROM jobs j JOIN submissions s ON s.id = j.submission_id, seq_0_to_2
  WHERE s.leaderboard_id = @board AND s.note <> '';
INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, std_ns,
	err_ns, best_ns, worst_ns, median_ns, low_ns, high_ns,
    constant_ns, own_ns, gap_ns, blocks, repeated, samples)
  SELECT t.id, 0, 'number: 1000000', 'passed', '', 100, j.score_ns, 40, 5, j.score_ns - 60,
	j.score_ns + 90, j.score_ns, j.score_ns - 12, j.score_ns + 12, 12000, j.score_ns + 6000, 40, 4,
	0, UNHEX(REPEAT('00804545', 100))
  FROM stages t JOIN jobs j ON j.id = t.job_id JOIN submissions s ON s.id = j.submission_id
  WHERE t.name = 'ranked' AND s.leaderboard_id = @board;`;

// A submission of LONG_USER for every verdict and state.
const STATES = `
SET @board = (SELECT id FROM leaderboards WHERE name = '${CROWD}'),
	@version = (SELECT task_version_id FROM leaderboards WHERE name = '${CROWD}');
SET @source = (SELECT sha256 FROM task_files WHERE task_version_id = @version
	AND role = 'template'), @user = (SELECT id FROM users WHERE name = '${LONG_USER}');
CREATE TEMPORARY TABLE wanted (position INT PRIMARY KEY AUTO_INCREMENT, state VARCHAR(20),
	verdict VARCHAR(30), mode VARCHAR(20), progress VARCHAR(40));
INSERT INTO wanted (state, verdict, mode, progress) VALUES ('done', 'wrong answer', 'test', ''),
	('done', 'compile error', 'test', ''), ('done', 'runtime error', 'benchmark', ''),
  ('done', 'time limit', 'ranked', ''), ('done', 'memory limit', 'test', ''),
	('done', 'output limit', 'test', ''), ('done', 'protocol violation', 'ranked', ''),
  ('failed', 'internal error', 'ranked', ''), ('cancelled', 'cancelled', 'test', ''),
	('done', 'passed', 'profile', ''), ('running', NULL, 'ranked', 'timing 2/5'),
	('queued', NULL, 'ranked', '');
INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode, dialect,
	note)
  SELECT @board, @version, @user, '${LONG_FILE}', @source, mode, 'triton',
	IF(state = 'queued', REPEAT('A note about it. ', 20), CONCAT('state ', position)) FROM wanted
	ORDER BY position;
SET @first = LAST_INSERT_ID();
INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, reason, progress, queued_at,
	started_at, finished_at, lease_owner, lease_device, lease_expires)
  SELECT @first + position - 1, @user, 'H200', state, verdict,
	CONCAT('The reason, with a path: ', REPEAT('/folder', 30)), progress, UTC_TIMESTAMP(3),
	IF(state = 'queued', NULL, UTC_TIMESTAMP(3)),
    IF(state IN ('queued', 'running'), NULL, UTC_TIMESTAMP(3)),
	IF(state = 'running', '${LONG_WORKER}', NULL), IF(state = 'running', '${DEVICE}', NULL),
    IF(state = 'running', UTC_TIMESTAMP(3) + INTERVAL 600 SECOND, NULL) FROM wanted;
INSERT INTO stages (job_id, position, name, verdict, message, exit_code, duration_ms, command,
	stdout, stderr)
  SELECT id, 0, 'compile', verdict, CONCAT('What is wrong ', REPEAT('word ', 40)), 1, 900,
	CONCAT('nvcc ', REPEAT('-Xcompiler ', 30)), REPEAT('out', 300),
	CONCAT('<b>', REPEAT('a line of an error\\n', 60)) FROM jobs
  WHERE submission_id >= @first AND verdict IS NOT NULL;
SELECT @first;`;

const HISTORY = `
SET @board = (SELECT id FROM leaderboards WHERE name = '${CROWD}'),
	@version = (SELECT task_version_id FROM leaderboards WHERE name = '${CROWD}');
SET @own = (SELECT submission_id FROM ranking r JOIN users u ON u.id = r.user_id
	WHERE r.leaderboard_id = @board AND r.gpu = 'H200' AND u.name = '${LONG_USER}');
SET @own_job = (SELECT id FROM jobs WHERE submission_id = @own AND gpu = 'H200');
SET @other = (SELECT submission_id FROM ranking WHERE leaderboard_id = @board AND gpu = 'H200'
	AND submission_id <> @own ORDER BY position LIMIT 1);
SET @other_job = (SELECT id FROM jobs WHERE submission_id = @other AND gpu = 'H200');
INSERT INTO comparisons (leaderboard_id, task_version_id, gpu, challenger_id, challenger_job_id,
	incumbent_id, incumbent_job_id, ratio, ratio_low, ratio_high)
  VALUES (@board, @version, 'H200', @own, @own_job, @other, @other_job, 0.998, 0.99, 1.004);
SET @comparison = LAST_INSERT_ID();
INSERT INTO jobs (comparison_id, user_id, gpu, state, verdict, finished_at)
	VALUES (@comparison, 0, 'H200', 'done', 'passed', UTC_TIMESTAMP(3));
SET @compared = LAST_INSERT_ID();
INSERT INTO stages (job_id, position, name, verdict, message, exit_code, duration_ms, command,
	stdout, stderr) VALUES (@compared, 0, 'compare', 'passed', '', 0, 900, '', '', '');
INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, std_ns,
	err_ns, best_ns, worst_ns, median_ns, low_ns, high_ns, rival_ns, ratio, ratio_low, ratio_high)
  VALUES (LAST_INSERT_ID(), 0, 'number: 1000000', 'passed', '', 100, 3000, 4, 1, 2990, 3100, 3000,
	2999, 3001, 3010, 0.998, 0.99, 1.004);
INSERT INTO rejudgings (leaderboard_id, scope, made_by)
	VALUES (@board, 'the top 2 of H200', 'admin');
SET @rejudging = LAST_INSERT_ID();
INSERT INTO rejudged_jobs (rejudging_id, submission_id, gpu, old_job_id)
	VALUES (@rejudging, @own, 'H200', @own_job), (@rejudging, @other, 'H200', @other_job);
INSERT INTO jobs (rejudged_id, user_id, gpu, state, verdict, reason, score_ns, score_err_ns,
	finished_at)
  SELECT id, 0, 'H200', 'done', IF(submission_id = @own, 'passed', 'wrong answer'), '',
	IF(submission_id = @own, 2900, NULL), 5, UTC_TIMESTAMP(3) FROM rejudged_jobs
	WHERE rejudging_id = @rejudging;
UPDATE rejudged_jobs r JOIN jobs j ON j.rejudged_id = r.id SET r.new_job_id = j.id
	WHERE r.rejudging_id = @rejudging;
INSERT INTO rejudgings (leaderboard_id, scope, made_by, state, ended_by, ended_at)
	VALUES (@board, 'all of ${LONG_USER}', 'admin', 'discarded', 'admin', UTC_TIMESTAMP(3));
INSERT INTO overtakings (user_id, leaderboard_id, task_version_id, gpu, by_user_id)
	SELECT u.id, @board, @version, 'H200', o.id FROM users u, users o
  WHERE u.name = '${LONG_USER}' AND o.name = REPEAT('A', 32);
INSERT INTO announcements (leaderboard_id, text, from_at, until_at, made_by)
	VALUES (NULL, '${'The machines rest on Sunday. '.repeat(8)}', UTC_TIMESTAMP(3), NULL, 'admin'),
  (@board, 'The task has a second version.', UTC_TIMESTAMP(3), '2090-01-01', '${CREATOR}'),
	(NULL, 'An older one.', '2020-01-01', '2020-01-02', 'admin');
INSERT INTO questions (leaderboard_id, user_id, text, answer, answered_at, answered_by, for_all, unseen)
	SELECT @board, u.id, IF(seq % 2, 'May a kernel keep state between calls?', REPEAT('why ', 400)),
	IF(seq < 3, NULL, ELT(1 + seq % 2, 'No.', REPEAT('because ', 200))),
	IF(seq < 3, NULL, UTC_TIMESTAMP(3)), c.id, seq > 3, seq = 3
	FROM seq_1_to_6 JOIN users u ON u.name = '${LONG_USER}' JOIN users c ON c.name = '${CREATOR}';
INSERT INTO invites (code, note, most_uses, uses, expires_at, revoked_at, created_by)
	SELECT CONCAT('code-of-a-class-', seq), IF(seq = 2, '', REPEAT('n', 80)), IF(seq % 2, 10, NULL),
	seq,
  IF(seq = 3, '2020-01-01', '2090-01-01'), IF(seq = 4, '2026-01-01', NULL),
	(SELECT id FROM users WHERE name = '${CREATOR}') FROM seq_1_to_4;
INSERT INTO webhooks (leaderboard_id, name, address, form, events, secret, state, reason, failures,
	created_by)
  SELECT l.id, CONCAT(REPEAT('w', 60), seq), CONCAT('https://', REPEAT('h', 60), '.invalid/x'),
	IF(seq % 2, 'json', 'discord'), 'record,ranked,job,opened,ended', '',
    ELT(seq, 'paused', 'off', 'paused'),
	IF(seq = 2, CONCAT('The last 30 attempts failed. The latest error: ',
	REPEAT('It did not answer. ', 20)), NULL), 30, u.id
  FROM seq_1_to_3 JOIN leaderboards l ON l.name = '${LONG_BOARD}'
	JOIN users u ON u.id = l.creator_id;
INSERT INTO webhooks (name, address, form, events, secret, created_by)
	SELECT 'everything', 'https://chat.invalid/', 'json', 'record', '', id FROM users
	WHERE name = 'admin';
INSERT INTO webhook_events (event, leaderboard_id, data)
	SELECT ELT(seq % 3 + 1, 'record', 'job', 'ended'), id, '{}' FROM leaderboards JOIN seq_1_to_60
	WHERE name = '${LONG_BOARD}';
INSERT INTO webhook_deliveries (webhook_id, event_id, state, attempts, status, sentence, tried_at)
  SELECT h.id, e.id, ELT(e.id % 4 + 1, 'waiting', 'delivered', 'failed', 'withheld'), e.id % 14,
	IF(e.id % 3, 404, NULL), REPEAT('The receiver answered 404. ', 1 + e.id % 9), UTC_TIMESTAMP(3)
  FROM webhooks h JOIN webhook_events e WHERE h.leaderboard_id IS NOT NULL;
INSERT INTO invite_leaderboards SELECT i.id, l.id FROM invites i, leaderboards l
	WHERE l.name IN ('closed_one', '${LONG_BOARD}');
INSERT INTO leaderboard_members (leaderboard_id, user_id) SELECT l.id, u.id
	FROM leaderboards l, users u WHERE l.name = 'closed_one'
	AND (u.name = '${LONG_USER}' OR u.id % 3 = 0);
INSERT INTO leaderboard_removals (leaderboard_id, user_id) SELECT l.id, u.id
	FROM leaderboards l, users u WHERE l.name = 'closed_one' AND u.name <> '${LONG_USER}'
	AND u.id % 3 = 1;
INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes, expires_at)
	SELECT u.id, CONCAT('laptop ', REPEAT('n', 50), seq), CONCAT('podium_abcdef', seq),
	UNHEX(SHA2(CONCAT(u.id, seq), 256)), 'read,submit',
  IF(seq = 1, NULL, '2090-01-01') FROM users u, seq_1_to_3 WHERE u.password_hash <> '!';
SELECT @own, @other, @comparison, @rejudging;`;

// Two ranked results: one waits for a review, the other is hidden.
const REVIEW = (first) => `
UPDATE jobs SET state = 'done', verdict = 'passed', score_ns = 12, score_err_ns = 1,
	held_at = UTC_TIMESTAMP(3),
	held_reason = 'It moves 12 MB in 12 ns, which is 1 PB/s: ${'x'.repeat(100)}.'
	WHERE submission_id = ${first + 3};
UPDATE submissions SET hidden_at = UTC_TIMESTAMP(3),
	hidden_reason = 'It holds the answers of the tests.', admin_note = 'Asked the author on Monday.'
	WHERE id = ${first};
UPDATE submissions SET withdrawn_at = UTC_TIMESTAMP(3) WHERE id = ${first + 9};
INSERT INTO artifacts (stage_id, name, size) SELECT t.id, 'profile.ncu-rep', 3 FROM stages t
	JOIN jobs j ON j.id = t.job_id WHERE j.submission_id = ${first + 9};
INSERT INTO artifact_parts VALUES (LAST_INSERT_ID(), 0, 'abc');
SELECT LAST_INSERT_ID();`;

const DEVICES = `
INSERT INTO workers (name, version, host, started_at, seen_at, checks) SELECT '${LONG_WORKER}',
	version, host, started_at, UTC_TIMESTAMP(3) + INTERVAL 1 DAY, checks FROM workers LIMIT 1;
SET @worker = LAST_INSERT_ID();
INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, compute_capability,
	seen_at, quarantined_at, quarantine_reason) VALUES
  (@worker, '${DEVICE}', 'H200', 'NVIDIA H200', 150754820096, '580.95.05', '9.0',
	UTC_TIMESTAMP(3) + INTERVAL 1 DAY, NULL, NULL),
  (@worker, '${DEVICE}1', 'B200', 'NVIDIA B200', 190754820096, '580.95.05', '10.0',
	UTC_TIMESTAMP(3) + INTERVAL 1 DAY, UTC_TIMESTAMP(3),
	'The driver reported Xid 79: the GPU has fallen off the bus.'),
  (@worker, '${DEVICE}2', 'L4', 'NVIDIA L4', 24754820096, '580.95.05', '8.9', '2026-01-01', NULL,
	NULL);
INSERT INTO pauses (worker, uuid, kind, paused_by)
	VALUES ('${LONG_WORKER}', '${DEVICE}2', 'drain', 'admin');
INSERT INTO device_vitals (worker, uuid, minute, at, temperature_c, sm_mhz, memory_mhz, errors)
  SELECT '${LONG_WORKER}', '${DEVICE}', MINUTE(t.at) + 60 * HOUR(t.at), t.at, 40 + seq % 30,
	1980 - seq % 200, 3201, seq = 700
	FROM (SELECT seq, UTC_TIMESTAMP() - INTERVAL seq MINUTE AS at FROM seq_0_to_1400) t
  ON DUPLICATE KEY UPDATE errors = 0;`;

// What the server counts at each submission.
const COUNTS = `
INSERT INTO leaderboard_counts (leaderboard_id, submissions, participants)
	SELECT leaderboard_id, COUNT(*), COUNT(DISTINCT user_id) FROM submissions WHERE NOT dry_run
	GROUP BY leaderboard_id
	ON DUPLICATE KEY UPDATE submissions = VALUES(submissions), participants = VALUES(participants)`;

const BOARD_STATES = `
UPDATE leaderboards SET creator_id = (SELECT id FROM users WHERE name = '${CREATOR}')
	WHERE name IN ('${CROWD}', 'closed_one', 'hidden_one', '${LONG_BOARD}');
DELETE FROM leaderboard_gpus
	WHERE leaderboard_id = (SELECT id FROM leaderboards WHERE name = 'deviceless');
UPDATE leaderboards SET deadline = '2020-01-01' WHERE name = 'ended';
UPDATE leaderboards SET deadline = '2020-01-01', practice = 1 WHERE name = 'practice';
UPDATE leaderboards SET visibility = 'closed' WHERE name = 'closed_one';
UPDATE leaderboards SET visibility = 'hidden' WHERE name = 'hidden_one';
UPDATE leaderboards SET frozen_at = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR WHERE name = 'frozen';
UPDATE leaderboards SET archived_at = UTC_TIMESTAMP(3) WHERE name = 'archived';`;

// A contest that has ended, with a row for LONG_USER, and one that begins later.
const CONTESTS = `
INSERT INTO contests (name, title, creator_id, starts_at, ends_at, rules, registration, code,
	freeze_minutes, started_at, ended_at)
	SELECT 'past', '${'A contest with a long title '.repeat(4).trim()}', id, '2020-01-01', '2020-01-02',
		'# Fairness\n\n* One account each.', 'open', '', 60, '2020-01-01', '2020-01-02'
	FROM users WHERE name = '${CREATOR}'
	UNION ALL SELECT 'coming', 'A contest', id, '2089-01-01', '2089-01-02', '', 'code',
		'a code of this contest', 0, NULL, NULL FROM users WHERE name = '${CREATOR}';
INSERT INTO contest_problems (leaderboard_id, contest_id, position)
	SELECT l.id, c.id, l.id FROM leaderboards l, contests c
	WHERE l.name IN ('${CROWD}', '${LONG_BOARD}', 'closed_one') AND c.name = 'past';
INSERT INTO contest_entrants (contest_id, user_id)
	SELECT c.id, u.id FROM contests c, users u WHERE c.name = 'past'
	AND (u.name IN ('${LONG_USER}', '${CREATOR}') OR u.name LIKE 'participant1%');
UPDATE contests SET team_members = 3 WHERE name = 'coming';
INSERT INTO users (name, password_hash, kind) VALUES ('${LONG_TEAM}', '', 'team'),
	('Locked-team', '', 'team');
INSERT INTO teams (user_id, contest_id, code, locked_at)
	SELECT u.id, c.id, LEFT(MD5(u.name), 24),
		IF(u.name = 'Locked-team', UTC_TIMESTAMP(3), NULL)
	FROM users u, contests c WHERE u.kind = 'team' AND c.name = 'coming';
INSERT INTO team_members (team_id, user_id, contest_id)
	SELECT t.user_id, p.id, t.contest_id FROM teams t JOIN users u ON u.id = t.user_id
	JOIN users p ON p.name IN ('${LONG_USER}', 'participant11') WHERE u.name = '${LONG_TEAM}';`;

// ---- making it ----

// Creates leaderboards, and submissions that really run, through the forms.
async function fillForms(admin, page) {
	await createLeaderboard(admin, LONG_BOARD,
		{ task: taskZip(DESCRIPTION), deadline: '2090-01-01T00:00' });
	await createLeaderboard(admin, CROWD,
		{ task: taskZip('', { 'task.yml': CROWD_TASK, 'eval.py': EVAL, 'template.py': RIGHT }),
		others: 'H200 B200 ANOTHERDEVICE', deadline: '2090-01-01T00:00' });
	await createLeaderboard(admin, 'deviceless', { others: 'NOBODYHASIT' });
	for (const name of ['bare', 'ended', 'practice', 'closed_one', 'hidden_one', 'frozen',
		'archived'])
		await createLeaderboard(admin, name);
	const ids = {};
	for (const [name, options] of Object.entries(
		{ noisy: { file: sourceFile(NOISY, LONG_FILE), mode: 'Test' },
		broken: { code: 'this is no Python', mode: 'Test' },
		passed: { code: RIGHT, mode: 'Ranked' } }))
		ids[name] = await submit(page, LONG_BOARD, options);
	await verdictOf(page);
	return ids;
}

async function addDraft(admin) {
	await admin.goto(`/admin/leaderboard/${LONG_BOARD}/edit`);
	await admin.getByLabel('Task, as a zip')
		.setInputFiles(
		taskZip('', { 'task.yml': SET_TASK.replace('../', '').replace('Add one', 'Add *two*'),
		'eval.py': EVAL.replace('became', 'turned into') }));
	await admin.getByRole('checkbox', { name: /^Keep version 1 in use/ }).check();
	await admin.getByRole('button', { name: 'Save' }).click();
	await admin.waitForURL(`**/leaderboard/${LONG_BOARD}/versions`);
	await admin.goto(`/admin/leaderboard/${LONG_BOARD}/dryrun`);
	await admin.getByRole('button', { name: 'Start the dry run' }).click();
	await admin.waitForURL(/version=/);
}

async function addSet(admin) {
	await admin.goto('/admin/sets/new');
	await admin.getByLabel('Problem set, as a zip').setInputFiles(SET);
	await admin.getByRole('button', { name: 'Preview' }).click();
	await admin.waitForURL(/\/admin\/sets\/\d+$/);
	return Number(admin.url().match(/\d+$/)[0]);
}

async function addPasswordLink(admin) {
	await admin.goto('/admin/users');
	await fillAndSend(admin, { Name: 'I'.repeat(32) }, 'Create the account');
	return new URL(await admin.locator('#password-link').textContent()).pathname;
}

// Gives LONG_USER an address that the mail server refused, and another that waits for confirmation.
// Returns the paths of the links in e-mails.
function addMailAddress() {
	const key = 'k'.repeat(32), secret = '1'.repeat(64);
	const [[id]] = sql(`SELECT id FROM users WHERE name = '${LONG_USER}'`);
	sql(`INSERT INTO mail_addresses (user_id, address, pending, pending_hash, pending_until,
		stopped_address, stopped_at, stopped_reason, unsubscribe_key) VALUES (${id},
		'${'a'.repeat(64)}@one.example', 'ada@two.example', UNHEX(SHA2(UNHEX('${secret}'), 256)),
		'2099-01-01', '${'a'.repeat(64)}@one.example', UTC_TIMESTAMP(3),
		'The mail server answered: 550 5.1.1 <(the address)> does not live here.', '${key}')`);
	const signed = createHmac('sha256', key).update(`unsubscribe ${id} overtaken`).digest('hex');
	return [`/mail/confirm/${secret}`, `/mail/unsubscribe/${id}-overtaken-${signed}`];
}

// Deletes a fresh Podium's leaderboards and creates the accounts LONG_USER and CREATOR.
export async function makeEmpty() {
	sql('DELETE FROM leaderboards');
	for (const name of [LONG_USER, CREATOR]) {
		const { page, context } = await visit({ watch: false });
		await register(page, name);
		await context.close();
	}
	sql(`UPDATE users SET role = 'creator' WHERE name = '${CREATOR}'`);
}

// Fills the site, which has the accounts LONG_USER and CREATOR. Returns the ids that addresses
// need.
export async function fill() {
	const { page: admin, context } = await visit({ watch: false }),
		{ page, context: own } = await visit({ watch: false });
	await logInAsAdmin(admin);
	await page.goto('/login');
	await fillAndSend(page, { Name: LONG_USER, Password: PASSWORD }, 'Log in');
	await page.locator('.who').getByRole('link', { name: LONG_USER, exact: true }).waitFor();
	const ids = await fillForms(admin, page);
	sql(CROWD_ROWS);
	rebuildRanking();
	sql(DEVICES);
	ids.first = Number(sql(STATES)[0][0]);
	[ids.own, ids.other, ids.comparison, ids.rejudging] = sql(HISTORY)[0].map(Number);
	ids.rejudged = Number(
		sql(`SELECT MIN(id) FROM rejudged_jobs WHERE rejudging_id = ${ids.rejudging}`)[0][0]);
	ids.artifact = Number(sql(REVIEW(ids.first))[0][0]);
	ids.hooks = sql('SELECT id FROM webhooks WHERE leaderboard_id IS NOT NULL ORDER BY id')
		.map(([id]) => Number(id));
	ids.running = ids.first + 10;
	ids.queued = ids.first + 11;
	await addDraft(admin);
	ids.set = await addSet(admin);
	ids.link = await addPasswordLink(admin);
	ids.mail = addMailAddress();
	sql(BOARD_STATES);
	sql(CONTESTS);
	sql(COUNTS);
	await context.close();
	await own.close();
	return ids;
}
