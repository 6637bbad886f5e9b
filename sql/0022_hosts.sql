-- Workers on hosts of their own: users of the database whose rights are only what a worker needs (sql/worker_rights.sql
-- says which), what they hand in, and which programs fit these tables.

-- A program's number is that of the newest migration that it knows. A migration that takes something away which older
-- programs use raises oldest_program to the first that does without.
CREATE TABLE IF NOT EXISTS compatibility (
  id             TINYINT UNSIGNED NOT NULL PRIMARY KEY COMMENT '1: there is one',
  oldest_program INT UNSIGNED NOT NULL COMMENT 'programs below this number must not use these tables',
  CONSTRAINT compatibility_one CHECK (id = 1)
) ENGINE = InnoDB;
INSERT IGNORE INTO compatibility (id, oldest_program) VALUES (1, 21);

ALTER TABLE workers
  ADD COLUMN IF NOT EXISTS protocol INT UNSIGNED NOT NULL DEFAULT 21 COMMENT 'the number of its program, as in compatibility' AFTER version;

CREATE TABLE IF NOT EXISTS worker_accounts (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL COMMENT 'workers.name: the only one that it may use',
  user            VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'of the database; NULL only until it is made',
  invited_by      VARCHAR(32) CHARACTER SET ascii NOT NULL,
  invited_at      DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  expires_at      DATETIME(3) NOT NULL COMMENT 'of the invitation',
  registered_at   DATETIME(3) NULL COMMENT 'NULL: the invitation has not been used; it has no rights yet',
  registered_from VARCHAR(255) NULL COMMENT 'host, as the database saw it',
  UNIQUE KEY worker_accounts_name (name),
  UNIQUE KEY worker_accounts_user (user)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- How jobs ended whose worker may not end them by itself; podium-web does, and removes the row.
CREATE TABLE IF NOT EXISTS endings (
  job_id        BIGINT UNSIGNED NOT NULL,
  fence         BIGINT UNSIGNED NOT NULL COMMENT 'jobs.fence of the claim; it is worth nothing for a later one',
  kind          ENUM('verdict', 'fault', 'loss', 'release') NOT NULL COMMENT 'as enum ending_kind',
  reason        TEXT NULL,
  verdict       ENUM('passed', 'wrong answer', 'compile error', 'runtime error', 'time limit', 'memory limit',
                     'output limit', 'protocol violation', 'internal error', 'cancelled') NULL,
  score_ns      DOUBLE NULL,
  score_err_ns  DOUBLE NULL,
  engine        ENUM('custom', 'isolated') NULL,
  engine_reason TEXT NULL,
  ratio         DOUBLE NULL,
  ratio_low     DOUBLE NULL,
  ratio_high    DOUBLE NULL,
  handed_in_at  DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (job_id, fence),
  KEY endings_age (handed_in_at),
  CONSTRAINT endings_job FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- What workers read, under names that mean the same to all of them: a worker with few rights sees less under them.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW worker_rights AS SELECT TRUE AS is_full, NULL AS name;
CREATE OR REPLACE SQL SECURITY INVOKER VIEW queue_by_age AS
  SELECT id, user_id, gpu, priority FROM jobs FORCE INDEX (jobs_age) WHERE state = 'queued';
CREATE OR REPLACE SQL SECURITY INVOKER VIEW queue_by_turn AS
  SELECT id, user_id, gpu, priority FROM jobs FORCE INDEX (jobs_turn) WHERE state = 'queued';
CREATE OR REPLACE SQL SECURITY INVOKER VIEW queue_running AS
  SELECT user_id FROM jobs FORCE INDEX (jobs_lease) WHERE state = 'running';
CREATE OR REPLACE SQL SECURITY INVOKER VIEW assignments AS
  SELECT j.id AS job_id, s.task_version_id, l.secret_seed, IF(c.id IS NULL, s.mode, 'compare') AS mode, v.definition,
    s.file_name, s.sha256, b.content AS source, r.file_name AS rival_name, r.sha256 AS rival_sha256, rb.content AS rival_source
  FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id
  JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id)
  JOIN leaderboards l ON l.id = s.leaderboard_id JOIN task_versions v ON v.id = s.task_version_id
  LEFT JOIN blobs b ON b.sha256 = s.sha256
  LEFT JOIN submissions r ON r.id = c.incumbent_id LEFT JOIN blobs rb ON rb.sha256 = r.sha256;
CREATE OR REPLACE SQL SECURITY INVOKER VIEW assignment_files AS
  SELECT j.id AS job_id, f.path, f.sha256, b.content
  FROM jobs j LEFT JOIN comparisons c ON c.id = j.comparison_id LEFT JOIN rejudged_jobs a ON a.id = j.rejudged_id
  JOIN submissions s ON s.id = COALESCE(j.submission_id, c.challenger_id, a.submission_id)
  JOIN task_files f ON f.task_version_id = s.task_version_id AND f.role = 'file'
  LEFT JOIN blobs b ON b.sha256 = f.sha256;
