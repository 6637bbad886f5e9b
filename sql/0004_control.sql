-- Cancelling, pausing, quotas, and the order in which users get their turn.

-- A claim finds the user whose turn it is in an index alone, so a job knows its user.
ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS user_id BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'submissions.user_id once more' AFTER submission_id,
  ADD COLUMN IF NOT EXISTS lease_device VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'gpus.uuid' AFTER lease_owner,
  ADD COLUMN IF NOT EXISTS cancelled_by BIGINT UNSIGNED NULL COMMENT 'users.id of whoever cancelled it',
  ADD KEY IF NOT EXISTS jobs_age (gpu, state, priority, id, user_id),
  ADD KEY IF NOT EXISTS jobs_turn (gpu, state, priority, user_id, id),
  DROP KEY IF EXISTS jobs_claim,
  ADD KEY IF NOT EXISTS jobs_user (user_id, state);
UPDATE jobs j JOIN submissions s ON s.id = j.submission_id SET j.user_id = s.user_id WHERE j.user_id = 0;

-- Workers and devices that claim nothing. It outlives the rows of workers and gpus, which a worker writes anew
-- whenever it starts.
CREATE TABLE IF NOT EXISTS pauses (
  worker    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL COMMENT 'workers.name',
  uuid      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'gpus.uuid; empty: the whole worker',
  kind      ENUM('drain', 'pause') NOT NULL COMMENT 'drain: the running job ends first',
  paused_by VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name, or podium-admin',
  paused_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (worker, uuid)
) ENGINE = InnoDB;

-- At most so many submissions of a user in so many hours. A mode without a row has the site's quota.
CREATE TABLE IF NOT EXISTS leaderboard_quotas (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  mode           ENUM('test', 'benchmark', 'ranked', 'profile') NOT NULL,
  most           INT UNSIGNED NOT NULL,
  hours          INT UNSIGNED NOT NULL,
  PRIMARY KEY (leaderboard_id, mode),
  CONSTRAINT leaderboard_quotas_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;

ALTER TABLE submissions ADD KEY IF NOT EXISTS submissions_quota (user_id, leaderboard_id, mode, submitted_at);
