-- A site after a busy year: 100,000 submissions of 2,000 users on 50 leaderboards, half of the
-- submissions on the leaderboard `bench`. Some jobs are queued, running, held or compared, some
-- submissions hidden, and admins have been active. `make bench-data` and the tests that count
-- queries load it into a separate Podium.
--
-- The data are deterministic except for the times, which end now. The caller may set @submissions,
-- @users, @leaderboards and @secret, from which the tokens of sessions are derived. Afterwards run
-- `podium-admin ranking rebuild`, which computes ranking, records and baselines from the jobs.
SET @submissions = COALESCE(@submissions, 100000), @users = COALESCE(@users, 2000),
	@leaderboards = COALESCE(@leaderboards, 50);
SET @secret = COALESCE(@secret, SHA2(CONCAT(UUID(), RAND()), 256));
SET @now = UTC_TIMESTAMP(3), @admin = (SELECT id FROM users WHERE name = 'admin');
-- Checking each row's keys would take a third of the time, and the rows below are made to fit.
SET SESSION group_concat_max_len = 1000000, foreign_key_checks = 0, unique_checks = 0;

-- CRC32 of a word and a number spreads values evenly. The choices for one submission are
-- independent of each other. A stored function would take longer.

-- Pause this machine's worker, because it must not claim any of the jobs.
INSERT INTO pauses (worker, kind, paused_by) SELECT name, 'drain', 'bench' FROM workers;

-- ---- people and leaderboards ----

INSERT INTO users (name, password_hash, created_at) SELECT CONCAT('user', seq), '!',
	@now - INTERVAL 300 DAY FROM seq_1_to_100000 WHERE seq <= @users;
SET @first_user = (SELECT id FROM users WHERE name = 'user1') - 1;
INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at)
  SELECT UNHEX(SHA2(UNHEX(SHA2(CONCAT(@secret, ' ', name), 256)), 256)), id, '192.0.2.1',
  	'Mozilla/5.0 (X11; Linux x86_64)',
    @now + INTERVAL 300 DAY FROM users;
UPDATE users SET must_change_password = FALSE WHERE id = @admin;
INSERT INTO password_links (token_hash, user_id, made_by, expires_at)
  SELECT UNHEX(SHA2(UNHEX(SHA2(CONCAT(@secret, ' link ', name), 256)), 256)), id, 'admin',
  	@now + INTERVAL 300 DAY FROM users;
-- In one transaction: podium-hooks removes blobs that nothing refers to.
START TRANSACTION;
INSERT INTO blobs (sha256, size, content)
  SELECT UNHEX(SHA2(content, 256)), LENGTH(content), content FROM (SELECT CONCAT('# Source ', seq,
  	'\nimport torch\n\n',
    -- About four kilobytes, as long as real sources.
    REPEAT('def kernel(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:\n\t'
    'return x.mul_(factor)  # in place\n\n', 40)) AS content FROM seq_0_to_999) sources;
CREATE TEMPORARY TABLE sources (seq INT PRIMARY KEY, sha256 BINARY(32))
  SELECT ROW_NUMBER() OVER (ORDER BY sha256) - 1 AS seq, sha256 FROM blobs WHERE content LIKE
  	'# Source %';

INSERT INTO leaderboards (name, creator_id, secret_seed, deadline, visibility, archived_at,
	practice)
  SELECT IF(seq = 0, 'bench', CONCAT('bench-', seq)), @admin, 1,
    CASE WHEN seq % 5 = 4 THEN @now - INTERVAL seq DAY WHEN seq % 5 = 3 THEN NULL ELSE
    	'2099-01-01' END,
    IF(seq % 12 = 5, 'closed', IF(seq % 24 = 7, 'hidden', 'public')), IF(seq % 10 = 9, @now,
    	NULL), seq % 3 = 0
  FROM seq_0_to_9999 WHERE seq < @leaderboards;
SET @leaderboard = (SELECT id FROM leaderboards WHERE name = 'bench');
INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'H200',
	0 FROM leaderboards WHERE id >= @leaderboard;
INSERT INTO leaderboard_gpus (leaderboard_id, gpu, position) SELECT id, 'CPU',
	1 FROM leaderboards WHERE id >= @leaderboard;
INSERT INTO task_versions (leaderboard_id, number, language, description, definition) SELECT id,
	1, 'py',
  '# Bench\n\nA leaderboard that only exists to be **measured**.',
  	'{"benchmark_timeout_s": 180, "benchmarks": ["size: 1; seed: 1", "size: 2; seed: 1", '
    '"size: 3; seed: 1"], "bytes": null, "compile_flags": [], "defines": [], '
    '"description": "", "engine": "custom", "expected": [], '
    '"files": [{"is_submission": true, "name": "submission.py", '
    '"source": "@SUBMISSION@"}], "flops": null, "gpus": [], "has_seed": false, '
    '"include_dirs": [], "language": "py", "main": "eval.py", "multi_gpu": false, '
    '"ranked_timeout_s": 180, "ranking_by": "geom", "seed": 0, "sources": [], '
    '"templates": [], "test_timeout_s": 180, "tests": ["size: 1; seed: 1"], '
    '"tolerance": 0.0}'
  FROM leaderboards WHERE id >= @leaderboard;
INSERT INTO task_versions (leaderboard_id, number, language, description, definition, draft)
  SELECT leaderboard_id, 2, language, 'The next one.', definition,
  	TRUE FROM task_versions WHERE leaderboard_id = @leaderboard;
UPDATE leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id AND v.number = 1 SET
	l.task_version_id = v.id WHERE l.id >= @leaderboard;
INSERT INTO task_files (task_version_id, path, role, sha256)
  SELECT l.task_version_id, 'py', 'template', s.sha256 FROM leaderboards l JOIN sources s ON s.seq
  	= 1 WHERE l.id >= @leaderboard;
INSERT INTO task_files (task_version_id, path, role, sha256)
  SELECT l.task_version_id, 'right.py', 'sample', s.sha256 FROM leaderboards l JOIN sources s ON
  	s.seq = 2 WHERE l.id >= @leaderboard;
INSERT INTO leaderboard_members (leaderboard_id, user_id)
  SELECT l.id, u.id FROM leaderboards l JOIN users u WHERE l.visibility = 'closed' AND l.id >=
  	@leaderboard AND u.id > @first_user AND u.id % 2;

-- ---- submissions: every fiftieth is user1's ----

INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode,
	submitted_at, dialect)
  SELECT l.id, l.task_version_id,
    @first_user + IF(q.seq % 50 = 0, 1, CRC32(CONCAT('user ', q.seq)) % @users + 1),
    'submission.py', s.sha256,
    ELT(CRC32(CONCAT('mode ', q.seq)) % 8 + 1, 'test', 'benchmark', 'ranked', 'ranked', 'ranked',
    	'ranked', 'ranked', 'ranked'),
    @now - INTERVAL (@submissions - q.seq) * 3 MINUTE, ELT(CRC32(CONCAT('dialect ', q.seq)) % 3 + 1,
    	'pytorch', 'triton', 'cuda')
  FROM seq_0_to_9999999 q
  JOIN leaderboards l ON l.id = @leaderboard + IF(CRC32(CONCAT('board ', q.seq)) % 2, 0,
  	CRC32(CONCAT('other ', q.seq)) % @leaderboards)
  JOIN sources s ON s.seq = CRC32(CONCAT('source ', q.seq)) % 1000
  WHERE q.seq < @submissions ORDER BY q.seq;
COMMIT;
SET @first = (SELECT MIN(id) FROM submissions WHERE leaderboard_id >= @leaderboard),
	@last = (SELECT MAX(id) FROM submissions);

-- All jobs have finished except those of the last hours.
INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, reason, progress, lease_owner,
	lease_device, lease_expires, score_ns, score_err_ns,
    engine, attempt, fence, queued_at, started_at, finished_at)
  SELECT id, user_id, gpu, state, IF(state = 'done', verdict, NULL), '', IF(state = 'running',
  	'test 4/12', ''), IF(state = 'running', 'rack1', NULL),
    IF(state = 'running', CONCAT('GPU-1-', id % 8), NULL), IF(state = 'running',
    	UTC_TIMESTAMP(3) + INTERVAL 5 MINUTE, NULL),
    IF(state = 'done' AND verdict = 'passed' AND mode = 'ranked', score_ns, NULL), 1 + id % 7,
    	'isolated', 1, 1,
    submitted_at, IF(state = 'queued', NULL, submitted_at), IF(state = 'done',
    	submitted_at + INTERVAL (4000 + id % 1000) * 1000 MICROSECOND, NULL)
  FROM (SELECT s.id, s.user_id, s.mode, s.submitted_at, g.gpu,
      IF(s.id > @last - 400 AND g.gpu = 'H200', 'queued', IF(s.id > @last - 440 AND g.gpu =
      	'H200', 'running', 'done')) AS state,
      IF(CRC32(CONCAT('verdict ', s.id)) % 9, 'passed', 'wrong answer') AS verdict,
      (1000 + CRC32(CONCAT(g.gpu, ' ', s.id)) % 100003)
      	* (2 - (s.id - @first) / @submissions) AS score_ns
    FROM submissions s JOIN (SELECT 'H200' AS gpu UNION SELECT 'CPU') g ON g.gpu = 'H200' OR s.id
    	% 4 = 0 WHERE s.id >= @first) each_of;
INSERT INTO stages (job_id, position, name, verdict, message, exit_code, duration_ms, command,
	stdout, stderr)
  SELECT j.id, 0, IF(s.mode = 'ranked', 'ranked', 'test'), j.verdict, '', 0, 4000,
  	'python eval.py', '', ''
  FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE s.id >= @first AND j.state =
  	'done';
INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, std_ns,
	err_ns, best_ns, worst_ns)
  SELECT t.id, q.seq, CONCAT('size: ', q.seq + 1, '; seed: 1'), t.verdict, '', 100,
    j.score_ns * (q.seq + 1) / 2, 9, 0.9, j.score_ns / 2, j.score_ns * 2
  FROM jobs j JOIN stages t ON t.job_id = j.id JOIN seq_0_to_2 q WHERE j.submission_id >= @first;
INSERT INTO artifacts (stage_id, name, size)
  SELECT MIN(t.id), 'profile-1.txt', 0 FROM stages t JOIN jobs j ON j.id = t.job_id WHERE
  	j.submission_id >= @first AND j.user_id = @first_user + 1;
INSERT INTO artifact_parts (artifact_id, part, content) VALUES (LAST_INSERT_ID(), 0,
	UNHEX('1f8b080000000000000303000000000000000000'));
INSERT INTO plan_blobs (sha256, size, packed, checksum, seen_at)
	VALUES (UNHEX(SHA2('', 256)), 0, 20, 0, @now);
INSERT INTO plan_blob_parts (sha256, part, content) VALUES (UNHEX(SHA2('', 256)), 0,
	UNHEX('1f8b080000000000000303000000000000000000'));
INSERT INTO plans (stage_id, case_index, sha256, size, nodes)
	SELECT stage_id, 0, UNHEX(SHA2('', 256)), 0, '[{"kind":"empty"}]' FROM artifacts
	ORDER BY id DESC LIMIT 1;
INSERT INTO plan_uses (plan_id, sha256) VALUES (LAST_INSERT_ID(), UNHEX(SHA2('', 256)));

-- Some submissions are held, hidden, withdrawn or have a note.
UPDATE jobs SET held_at = finished_at, held_reason = 'It is faster than the device can be.'
  WHERE submission_id >= @first AND verdict = 'passed' AND id % 2000 = 0;
UPDATE submissions SET hidden_at = @now, hidden_reason = 'It is a copy.' WHERE id >= @first AND id
	% 1000 = 1;
UPDATE submissions SET withdrawn_at = @now WHERE id >= @first AND id % 1000 = 2;
UPDATE submissions SET note = 'with wider loads' WHERE id >= @first AND id % 10 = 3;

-- Comparisons of users whose best times on `bench` are neighbors.
CREATE TEMPORARY TABLE best SELECT submission_id, job_id, task_version_id,
	ROW_NUMBER() OVER (ORDER BY score_ns) AS position
  FROM (SELECT s.id AS submission_id, j.id AS job_id, s.task_version_id, j.score_ns,
      ROW_NUMBER() OVER (PARTITION BY s.user_id ORDER BY j.score_ns, s.id) AS turn
    FROM submissions s JOIN jobs j ON j.submission_id = s.id AND j.gpu = 'H200' WHERE
    	s.leaderboard_id = @leaderboard AND j.score_ns IS NOT NULL) jobs
  WHERE turn = 1 ORDER BY score_ns LIMIT 200;
CREATE TEMPORARY TABLE next SELECT * FROM best;
INSERT INTO comparisons (leaderboard_id, task_version_id, gpu, challenger_id, challenger_job_id,
	incumbent_id, incumbent_job_id,
    ratio, ratio_low, ratio_high)
  SELECT @leaderboard, a.task_version_id, 'H200', a.submission_id, a.job_id, b.submission_id,
  	b.job_id, 0.998, 0.994, 1.003
  FROM best a JOIN next b ON b.position = a.position + 1;
INSERT INTO jobs (comparison_id, user_id, gpu, priority, state, verdict) SELECT id, 0, 'H200', 1,
	'done', 'passed' FROM comparisons;

-- ---- the fleet: devices that stay online while the server's event scheduler is on ----

INSERT INTO workers (name, version, host, started_at, seen_at)
  SELECT CONCAT('rack', seq), '0.1.0', '{}', @now - INTERVAL 9 DAY,
  	UTC_TIMESTAMP(3) FROM seq_1_to_8;
INSERT INTO gpus (worker_id, uuid, model, product, memory_bytes, driver, compute_capability,
	seen_at)
  SELECT w.id, CONCAT('GPU-', SUBSTR(w.name, 5), '-', q.seq), 'H200', 'NVIDIA H200', 150000000000,
  	'580.1', '9.0', UTC_TIMESTAMP(3)
  FROM workers w JOIN seq_0_to_7 q WHERE w.name LIKE 'rack%';
CREATE EVENT racks_are_there ON SCHEDULE EVERY 5 SECOND DO
  UPDATE workers w JOIN gpus g ON g.worker_id = w.id LEFT JOIN jobs j ON j.state = 'running' AND
  	j.lease_owner = w.name
  SET w.seen_at = UTC_TIMESTAMP(3), g.seen_at = UTC_TIMESTAMP(3),
  	j.lease_expires = UTC_TIMESTAMP(3) + INTERVAL 5 MINUTE WHERE w.name LIKE 'rack%';
SET GLOBAL event_scheduler = ON;
INSERT INTO device_vitals (worker, uuid, minute, at, temperature_c, sm_mhz, memory_mhz, errors)
  SELECT w.name, g.uuid, q.seq, @now - INTERVAL 1440 - q.seq MINUTE,
    40 + CRC32(CONCAT(g.uuid, ' ', q.seq)) % 40, 1980, 3201, q.seq % 700 = 3
  FROM workers w JOIN gpus g ON g.worker_id = w.id JOIN seq_0_to_1439 q WHERE w.name IN ('rack1',
  	'rack2');

-- ---- actions of admins ----

INSERT INTO audit_log (at, actor_id, actor, address, action, subject, detail)
  SELECT @now - INTERVAL (60000 - seq) MINUTE, @admin, 'admin', '192.0.2.1', 
    ELT(seq % 5 + 1, 'submission.hide', 'user.ban', 'leaderboard.change', 'submission.note',
    	'worker.drain'),
    CONCAT('user', CRC32(CONCAT('audit ', seq)) % @users), 'What it was done for.'
  FROM seq_1_to_60000 WHERE seq <= @submissions;
INSERT INTO announcements (leaderboard_id, text, from_at, until_at, made_by)
  SELECT IF(seq = 0, NULL, @leaderboard + seq - 1), 'We measure the pages today.',
  	@now - INTERVAL 1 DAY,
  IF(seq > 2, @now - INTERVAL 1 HOUR, NULL), 'admin' FROM seq_0_to_40;
INSERT INTO invites (code, note, most_uses, created_by) SELECT CONCAT('BENCH-', seq),
	CONCAT('class ', seq), 30, @admin FROM seq_1_to_200;
INSERT INTO webhooks (leaderboard_id, name, address, form, events, secret, state, created_by)
  SELECT IF(seq < 21, @leaderboard, NULL), CONCAT('channel ', seq), 'https://chat.invalid/',
  	'json', 'record,ranked', '', 'paused', @admin FROM seq_1_to_40;
INSERT INTO webhook_events (event, leaderboard_id, data) SELECT 'ranked', @leaderboard,
	'{}' FROM seq_1_to_3000 WHERE seq <= @submissions;
INSERT INTO webhook_deliveries (webhook_id, event_id, state, attempts, status, sentence, tried_at)
  SELECT h.id, e.id, IF(e.id % 100, 'delivered', 'waiting'), 1, 204, 'The receiver answered 204.',
  	@now FROM webhooks h JOIN webhook_events e;
INSERT INTO overtakings (user_id, leaderboard_id, task_version_id, gpu, by_user_id)
  SELECT @first_user + seq, l.id, l.task_version_id, 'H200', @first_user + 1
  FROM seq_2_to_300 JOIN leaderboards l ON l.id = @leaderboard WHERE seq < @users;
INSERT INTO rejudgings (leaderboard_id, scope, state, made_by)
  SELECT @leaderboard, CONCAT('the top 200 of H200, the ', seq, 'th time'), IF(seq = 30, 'open',
  	'discarded'), 'admin'
  FROM seq_1_to_30;
INSERT INTO rejudged_jobs (rejudging_id, submission_id, gpu, old_job_id)
  SELECT r.id, b.submission_id, 'H200', b.job_id FROM rejudgings r JOIN best b WHERE r.made_by =
  	'admin';
INSERT INTO jobs (rejudged_id, user_id, gpu, state, verdict, priority, score_ns, score_err_ns,
	engine, started_at, finished_at)
  SELECT a.id, s.user_id, 'H200', 'done', 'passed', 2, j.score_ns * 1.001, 1, 'isolated', @now, @now
  FROM rejudged_jobs a JOIN submissions s ON s.id = a.submission_id JOIN jobs j ON j.id =
  	a.old_job_id;
UPDATE rejudged_jobs a JOIN jobs j ON j.rejudged_id = a.id SET a.new_job_id = j.id;

-- ---- totals that the programs would have stored ----

INSERT INTO leaderboard_counts (leaderboard_id, submissions, participants)
  SELECT leaderboard_id, COUNT(*), COUNT(DISTINCT user_id) FROM submissions WHERE id >= @first
  	GROUP BY leaderboard_id;
INSERT INTO user_days (user_id, day, submissions)
  SELECT user_id, DATE(submitted_at), COUNT(*) FROM submissions WHERE id >= @first GROUP BY
  	user_id, DATE(submitted_at);
INSERT INTO job_times (task_version_id, gpu, mode, recent, median_ms, updated_at)
  SELECT s.task_version_id, j.gpu, s.mode, '4000', 4000, MAX(j.finished_at)
  FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE s.id >= @first AND j.finished_at
  	IS NOT NULL
  GROUP BY s.task_version_id, j.gpu, s.mode;
INSERT IGNORE INTO webhook_told (leaderboard_id, is_open) SELECT id,
	deadline IS NULL OR deadline > @now FROM leaderboards;
ANALYZE TABLE users, sessions, blobs, leaderboards, submissions, jobs, stages, measurements,
	comparisons, audit_log, job_times, user_days;
SET SESSION foreign_key_checks = 1, unique_checks = 1;
