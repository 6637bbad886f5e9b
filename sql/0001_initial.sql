-- The first schema. All times are UTC. Names that are typed by people are ASCII and compare
-- without case; everything else that is text is utf8mb4.

CREATE TABLE IF NOT EXISTS users (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  password_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role          ENUM('participant', 'creator', 'admin') NOT NULL DEFAULT 'participant',
  must_change_password BOOLEAN NOT NULL DEFAULT FALSE,
  banned_at     DATETIME(3) NULL,
  created_at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  UNIQUE KEY users_name (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Only the SHA-256 of a session's token is stored: a copy of the database logs nobody in.
CREATE TABLE IF NOT EXISTS sessions (
  token_hash BINARY(32) NOT NULL PRIMARY KEY,
  user_id    BIGINT UNSIGNED NOT NULL,
  address    VARCHAR(45) CHARACTER SET ascii NOT NULL,
  user_agent VARCHAR(255) NOT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  seen_at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  expires_at DATETIME(3) NOT NULL,
  KEY sessions_user (user_id),
  KEY sessions_expires (expires_at),
  CONSTRAINT sessions_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Fixed windows: `hits` counts since `window_start`.
CREATE TABLE IF NOT EXISTS rate_limits (
  subject      VARCHAR(96) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL PRIMARY KEY,
  window_start DATETIME(3) NOT NULL,
  hits         INT UNSIGNED NOT NULL
) ENGINE = InnoDB;

-- Sources and task files, stored once by content.
CREATE TABLE IF NOT EXISTS blobs (
  sha256  BINARY(32) NOT NULL PRIMARY KEY,
  size    INT UNSIGNED NOT NULL,
  content LONGBLOB NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS leaderboards (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  creator_id      BIGINT UNSIGNED NULL,
  task_version_id BIGINT UNSIGNED NULL COMMENT 'the version that new submissions run against',
  deadline        DATETIME(3) NULL COMMENT 'NULL: never ends',
  accepting       BOOLEAN NOT NULL DEFAULT TRUE COMMENT 'false: closed by an admin',
  sources_public_after_deadline BOOLEAN NOT NULL DEFAULT TRUE,
  secret_seed     INT UNSIGNED NOT NULL COMMENT 'below 2^31; never leaves the server',
  created_at      DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  updated_at      DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  UNIQUE KEY leaderboards_name (name),
  KEY leaderboards_deadline (deadline),
  CONSTRAINT leaderboards_creator FOREIGN KEY (creator_id) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS leaderboard_gpus (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  gpu            VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'model, as in gpus.model',
  position       SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (leaderboard_id, gpu),
  CONSTRAINT leaderboard_gpus_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- Immutable once written.
CREATE TABLE IF NOT EXISTS task_versions (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  number         INT UNSIGNED NOT NULL COMMENT '1, 2, ... within the leaderboard',
  language       ENUM('py', 'cu') NOT NULL,
  description    MEDIUMTEXT NOT NULL COMMENT 'Markdown',
  definition     LONGTEXT NOT NULL COMMENT 'JSON of lib/task/task.h, without the contents of files',
  created_by     BIGINT UNSIGNED NULL,
  created_at     DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  UNIQUE KEY task_versions_number (leaderboard_id, number),
  CONSTRAINT task_versions_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT task_versions_user FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS task_files (
  task_version_id BIGINT UNSIGNED NOT NULL,
  path            VARCHAR(255) COLLATE utf8mb4_bin NOT NULL COMMENT 'as the runner sees it, or template/LANGUAGE, sample/NAME',
  role            ENUM('file', 'template', 'sample', 'definition') NOT NULL,
  sha256          BINARY(32) NOT NULL,
  PRIMARY KEY (task_version_id, role, path),
  KEY task_files_blob (sha256),
  CONSTRAINT task_files_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE,
  CONSTRAINT task_files_blob FOREIGN KEY (sha256) REFERENCES blobs (sha256)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS submissions (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id  BIGINT UNSIGNED NOT NULL,
  task_version_id BIGINT UNSIGNED NOT NULL,
  user_id         BIGINT UNSIGNED NOT NULL,
  file_name       VARCHAR(255) NOT NULL,
  sha256          BINARY(32) NOT NULL COMMENT 'the source, in blobs',
  mode            ENUM('test', 'benchmark', 'ranked') NOT NULL,
  submitted_at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  KEY submissions_history (user_id, leaderboard_id, id),
  KEY submissions_leaderboard (leaderboard_id, id),
  KEY submissions_blob (sha256),
  CONSTRAINT submissions_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT submissions_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id),
  CONSTRAINT submissions_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT submissions_blob FOREIGN KEY (sha256) REFERENCES blobs (sha256)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS workers (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  version    VARCHAR(32) NOT NULL,
  host       LONGTEXT NOT NULL COMMENT 'JSON: kernel, cpu, memory, interpreter, toolkit',
  started_at DATETIME(3) NOT NULL,
  seen_at    DATETIME(3) NOT NULL,
  UNIQUE KEY workers_name (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- The devices that workers offer; the CPU counts as one.
CREATE TABLE IF NOT EXISTS gpus (
  worker_id    BIGINT UNSIGNED NOT NULL,
  uuid         VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  model        VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'H200, A100, CPU: what leaderboards choose',
  product      VARCHAR(96) NOT NULL COMMENT 'NVIDIA H200, or the processor''s name',
  memory_bytes BIGINT UNSIGNED NOT NULL,
  driver       VARCHAR(32) NOT NULL,
  compute_capability VARCHAR(8) NOT NULL COMMENT '9.0; empty for the CPU',
  seen_at      DATETIME(3) NOT NULL,
  PRIMARY KEY (worker_id, uuid),
  KEY gpus_model (model, seen_at),
  CONSTRAINT gpus_worker FOREIGN KEY (worker_id) REFERENCES workers (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS jobs (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  submission_id BIGINT UNSIGNED NOT NULL,
  gpu           VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state         ENUM('queued', 'running', 'done', 'failed', 'cancelled') NOT NULL DEFAULT 'queued',
  verdict       ENUM('passed', 'wrong answer', 'compile error', 'runtime error', 'time limit', 'memory limit',
                     'output limit', 'protocol violation', 'internal error', 'cancelled') NULL,
  reason        TEXT NULL COMMENT 'one sentence for the participant',
  progress      VARCHAR(64) NOT NULL DEFAULT '' COMMENT 'compile, test 4/12, timing 2/5',
  score_ns      DOUBLE NULL,
  score_err_ns  DOUBLE NULL COMMENT 'standard error of the score',
  engine        ENUM('custom', 'isolated') NULL,
  environment   LONGTEXT NULL COMMENT 'JSON: device, driver, toolkit, interpreter, libraries',
  priority      TINYINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'lower is sooner',
  attempt       TINYINT UNSIGNED NOT NULL DEFAULT 0,
  fence         BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'grows with each claim; results carry it',
  lease_owner   VARCHAR(64) CHARACTER SET ascii NULL COMMENT 'workers.name',
  lease_expires DATETIME(3) NULL,
  queued_at     DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  started_at    DATETIME(3) NULL,
  finished_at   DATETIME(3) NULL,
  UNIQUE KEY jobs_submission (submission_id, gpu),
  KEY jobs_claim (gpu, state, priority, id),
  KEY jobs_lease (state, lease_expires),
  CONSTRAINT jobs_submission FOREIGN KEY (submission_id) REFERENCES submissions (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS stages (
  id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  job_id      BIGINT UNSIGNED NOT NULL,
  position    TINYINT UNSIGNED NOT NULL,
  name        ENUM('compile', 'test', 'benchmark', 'ranked') NOT NULL,
  verdict     ENUM('passed', 'wrong answer', 'compile error', 'runtime error', 'time limit', 'memory limit',
                   'output limit', 'protocol violation', 'internal error', 'cancelled') NULL COMMENT 'NULL: still running',
  message     TEXT NOT NULL COMMENT 'why, in one sentence; empty when passed',
  exit_code   INT NULL,
  duration_ms INT UNSIGNED NULL,
  command     TEXT NOT NULL,
  stdout      MEDIUMTEXT NOT NULL,
  stderr      MEDIUMTEXT NOT NULL,
  UNIQUE KEY stages_job (job_id, position),
  CONSTRAINT stages_job FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- One row per case of a stage. NULL where a stage does not measure.
CREATE TABLE IF NOT EXISTS measurements (
  stage_id   BIGINT UNSIGNED NOT NULL,
  case_index SMALLINT UNSIGNED NOT NULL COMMENT 'from 0, as in the case file',
  spec       TEXT NOT NULL COMMENT 'the case line, with the public seed',
  verdict    ENUM('passed', 'wrong answer', 'compile error', 'runtime error', 'time limit', 'memory limit',
                  'output limit', 'protocol violation', 'internal error', 'cancelled') NOT NULL,
  message    TEXT NOT NULL,
  runs       INT UNSIGNED NULL,
  mean_ns    DOUBLE NULL,
  std_ns     DOUBLE NULL,
  err_ns     DOUBLE NULL,
  best_ns    DOUBLE NULL,
  worst_ns   DOUBLE NULL,
  PRIMARY KEY (stage_id, case_index),
  CONSTRAINT measurements_stage FOREIGN KEY (stage_id) REFERENCES stages (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- The best ranked job of each user, written in the transaction that finishes the job.
-- `position` is unique and gives the order of the page, `place` is the rank that ties share.
CREATE TABLE IF NOT EXISTS ranking (
  leaderboard_id  BIGINT UNSIGNED NOT NULL,
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id         BIGINT UNSIGNED NOT NULL,
  submission_id   BIGINT UNSIGNED NOT NULL,
  job_id          BIGINT UNSIGNED NOT NULL,
  score_ns        DOUBLE NOT NULL,
  score_err_ns    DOUBLE NULL,
  submitted_at    DATETIME(3) NOT NULL,
  position        INT UNSIGNED NOT NULL,
  place           INT UNSIGNED NOT NULL,
  PRIMARY KEY (leaderboard_id, task_version_id, gpu, user_id),
  KEY ranking_order (leaderboard_id, task_version_id, gpu, position),
  KEY ranking_user (user_id),
  CONSTRAINT ranking_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT ranking_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT ranking_job FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- Who did what. Names are copied, because what they name may be deleted.
CREATE TABLE IF NOT EXISTS audit_log (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at         DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  actor_id   BIGINT UNSIGNED NULL,
  actor      VARCHAR(32) CHARACTER SET ascii NOT NULL,
  address    VARCHAR(45) CHARACTER SET ascii NOT NULL,
  action     VARCHAR(48) CHARACTER SET ascii NOT NULL,
  subject    VARCHAR(128) NOT NULL,
  detail     TEXT NOT NULL,
  KEY audit_log_at (at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
