-- Figures that pages show at every view, so they are kept where they change instead of counted where they are read.

-- How long jobs of one kind ran lately: what a job that waits is expected to take.
CREATE TABLE IF NOT EXISTS job_times (
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu        VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  mode       ENUM('test', 'benchmark', 'ranked', 'profile', 'comparison') NOT NULL,
  recent     VARCHAR(400) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'ms of the last 31 that ended, the newest first: 4210,3980',
  median_ms  BIGINT UNSIGNED NOT NULL DEFAULT 0,
  updated_at DATETIME(3) NOT NULL,
  PRIMARY KEY (task_version_id, gpu, mode),
  KEY job_times_latest (gpu, mode, updated_at),
  CONSTRAINT job_times_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- What was ever submitted to a leaderboard, and by how many. Not a column of leaderboards: those who submit at the same
-- moment share locks on that row.
CREATE TABLE IF NOT EXISTS leaderboard_counts (
  leaderboard_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  submissions    BIGINT UNSIGNED NOT NULL,
  participants   BIGINT UNSIGNED NOT NULL,
  CONSTRAINT leaderboard_counts_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;
INSERT INTO leaderboard_counts (leaderboard_id, submissions, participants)
  SELECT leaderboard_id, COUNT(*), COUNT(DISTINCT user_id) FROM submissions GROUP BY leaderboard_id
  ON DUPLICATE KEY UPDATE submissions = VALUES(submissions), participants = VALUES(participants);

-- How often a user submitted on each day that he did.
CREATE TABLE IF NOT EXISTS user_days (
  user_id     BIGINT UNSIGNED NOT NULL,
  day         DATE NOT NULL COMMENT 'UTC',
  submissions INT UNSIGNED NOT NULL,
  PRIMARY KEY (user_id, day),
  CONSTRAINT user_days_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;
INSERT INTO user_days (user_id, day, submissions)
  SELECT user_id, DATE(submitted_at), COUNT(*) FROM submissions GROUP BY user_id, DATE(submitted_at)
  ON DUPLICATE KEY UPDATE submissions = VALUES(submissions);
