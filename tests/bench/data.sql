-- 100,000 submissions of 1,000 users on one leaderboard with two devices, as they would be after a busy
-- competition: for measurements and for EXPLAIN. Deterministic. Runs against a fresh schema.
SET @submissions = 100000, @users = 1000;
INSERT INTO users (name, password_hash) SELECT CONCAT('user', seq), '!' FROM seq_1_to_1000;
INSERT INTO blobs (sha256, size, content) SELECT UNHEX(SHA2(CONCAT('source ', seq), 256)), 9, CONCAT('source ', seq) FROM seq_1_to_1000;
INSERT INTO leaderboards (name, secret_seed, deadline) VALUES ('bench', 1, '2099-01-01');
SET @leaderboard = LAST_INSERT_ID();
INSERT INTO leaderboard_gpus VALUES (@leaderboard, 'H200', 0), (@leaderboard, 'CPU', 1);
INSERT INTO task_versions (leaderboard_id, number, language, description, definition) VALUES (@leaderboard, 1, 'py',
  '# Bench\n\nA leaderboard that only exists to be **measured**.', '{"benchmark_timeout_s": 180, "benchmarks": ["size: 1; seed: 1"], "bytes": null, "compile_flags": [], "defines": [], "description": "", "engine": "custom", "expected": [], "files": [{"is_submission": true, "name": "submission.py", "source": "@SUBMISSION@"}], "flops": null, "gpus": [], "has_seed": false, "include_dirs": [], "language": "py", "main": "eval.py", "multi_gpu": false, "ranked_timeout_s": 180, "ranking_by": "geom", "seed": 0, "sources": [], "templates": [], "test_timeout_s": 180, "tests": ["size: 1; seed: 1"], "tolerance": 0.0}');
SET @version = LAST_INSERT_ID();
UPDATE leaderboards SET task_version_id = @version WHERE id = @leaderboard;
INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode, submitted_at)
  SELECT @leaderboard, @version, u.id, 'submission.py', b.sha256, 'ranked', '2026-01-01' + INTERVAL s.seq MINUTE
  FROM seq_0_to_99999 s
  JOIN users u ON u.name = CONCAT('user', s.seq % @users + 1)
  JOIN blobs b ON b.sha256 = UNHEX(SHA2(CONCAT('source ', s.seq % 1000 + 1), 256));
INSERT INTO jobs (submission_id, gpu, state, verdict, reason, score_ns, score_err_ns, engine, attempt, fence, queued_at, started_at, finished_at)
  SELECT id, 'H200', 'done', 'passed', '', 1000 + (id * 7919) % 100003, 1 + id % 7, 'custom', 1, 1, submitted_at, submitted_at, submitted_at + INTERVAL 4 SECOND
  FROM submissions WHERE leaderboard_id = @leaderboard;
-- The best job of each user, the earlier one where two are equal; positions by score.
INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, score_ns, score_err_ns, submitted_at, engine, position, place)
  SELECT @leaderboard, @version, 'H200', user_id, submission_id, job_id, score_ns, score_err_ns, submitted_at, 'custom',
    ROW_NUMBER() OVER (ORDER BY score_ns, submission_id), RANK() OVER (ORDER BY score_ns)
  FROM (SELECT s.user_id, s.id AS submission_id, j.id AS job_id, j.score_ns, j.score_err_ns, s.submitted_at,
      ROW_NUMBER() OVER (PARTITION BY s.user_id ORDER BY j.score_ns, s.id) AS best
    FROM jobs j JOIN submissions s ON s.id = j.submission_id WHERE s.leaderboard_id = @leaderboard) ranked
  WHERE best = 1;
ANALYZE TABLE users, submissions, jobs, ranking;
