-- What admins do besides: rejudging, links to choose a password, hiding, notes, announcements, the state of GPUs over a day.

-- Results that are computed once more beside the old ones. They count for nothing until they are applied; then they
-- and the old ones change places.
CREATE TABLE IF NOT EXISTS rejudgings (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  scope          VARCHAR(160) NOT NULL COMMENT 'in words: the top 10 of H200',
  state          ENUM('open', 'applied', 'discarded') NOT NULL DEFAULT 'open',
  made_by        VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name',
  made_at        DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  ended_by       VARCHAR(32) CHARACTER SET ascii NULL,
  ended_at       DATETIME(3) NULL,
  CONSTRAINT rejudgings_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS rejudged_jobs (
  id            BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  rejudging_id  BIGINT UNSIGNED NOT NULL,
  submission_id BIGINT UNSIGNED NOT NULL,
  gpu           VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  old_job_id    BIGINT UNSIGNED NOT NULL COMMENT 'jobs.id: what the submission had',
  new_job_id    BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'jobs.id: what was computed beside it',
  UNIQUE KEY rejudged_jobs_result (rejudging_id, submission_id, gpu),
  KEY rejudged_jobs_submission (submission_id, gpu),
  CONSTRAINT rejudged_jobs_rejudging FOREIGN KEY (rejudging_id) REFERENCES rejudgings (id) ON DELETE CASCADE,
  CONSTRAINT rejudged_jobs_submission FOREIGN KEY (submission_id) REFERENCES submissions (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- A job is a submission's, a comparison's or a rejudging's, and is gone with it. Before a rejudging is applied its new
-- job has rejudged_id, afterwards the old one.
ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS rejudged_id BIGINT UNSIGNED NULL AFTER comparison_id,
  ADD KEY IF NOT EXISTS jobs_rejudged (rejudged_id),
  ADD CONSTRAINT jobs_rejudged FOREIGN KEY IF NOT EXISTS (rejudged_id) REFERENCES rejudged_jobs (id) ON DELETE CASCADE,
  DROP CONSTRAINT IF EXISTS jobs_owner,
  ADD CONSTRAINT IF NOT EXISTS jobs_one_owner
    CHECK ((submission_id IS NOT NULL) + (comparison_id IS NOT NULL) + (rejudged_id IS NOT NULL) = 1);

-- Links with which a password is chosen, once. Only the SHA-256 of what stands in the link is stored.
CREATE TABLE IF NOT EXISTS password_links (
  token_hash BINARY(32) NOT NULL PRIMARY KEY,
  user_id    BIGINT UNSIGNED NOT NULL,
  made_by    VARCHAR(32) CHARACTER SET ascii NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  KEY password_links_expires (expires_at),
  CONSTRAINT password_links_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- A hidden submission is seen by its author and admins alone, and is not ranked.
ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS hidden_at     DATETIME(3) NULL,
  ADD COLUMN IF NOT EXISTS hidden_reason VARCHAR(500) NULL COMMENT 'one sentence; its author reads it',
  ADD COLUMN IF NOT EXISTS admin_note    VARCHAR(2000) NULL COMMENT 'for admins alone',
  ADD KEY IF NOT EXISTS submissions_hidden (hidden_at);

CREATE TABLE IF NOT EXISTS announcements (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id BIGINT UNSIGNED NULL COMMENT 'NULL: the whole site''s',
  text           VARCHAR(1000) NOT NULL,
  from_at        DATETIME(3) NOT NULL,
  until_at       DATETIME(3) NULL COMMENT 'NULL: until it is removed',
  made_by        VARCHAR(32) CHARACTER SET ascii NOT NULL,
  KEY announcements_shown (leaderboard_id, from_at),
  CONSTRAINT announcements_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- A device's day, minute by minute: a minute of today replaces that of yesterday, so a device has 1440 rows at most.
CREATE TABLE IF NOT EXISTS device_vitals (
  worker        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL COMMENT 'workers.name',
  uuid          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'gpus.uuid',
  minute        SMALLINT UNSIGNED NOT NULL COMMENT 'of the day, 0 to 1439',
  at            DATETIME(3) NOT NULL,
  temperature_c SMALLINT NULL,
  sm_mhz        INT UNSIGNED NULL,
  memory_mhz    INT UNSIGNED NULL,
  errors        INT UNSIGNED NOT NULL COMMENT 'Xid that the driver has reported since the row before',
  PRIMARY KEY (worker, uuid, minute),
  -- The page of all devices finds the newest, the hottest and those with errors without reading each one's day.
  KEY device_vitals_at (worker, uuid, at),
  KEY device_vitals_temperature (worker, uuid, temperature_c, at),
  KEY device_vitals_errors (errors, at)
) ENGINE = InnoDB;

-- The audit log is searched by who and what; the newest come first.
ALTER TABLE audit_log
  ADD KEY IF NOT EXISTS audit_log_actor (actor, id),
  ADD KEY IF NOT EXISTS audit_log_action (action, id),
  ADD KEY IF NOT EXISTS audit_log_subject (subject, id);
