-- How the best times of each ranking came about, for its charts: kept, because a page cannot look at all submissions.

-- A line is a user's, or, under the number 0, everybody's. It has each passed ranked job that was faster than all that were
-- submitted before it. Written with the ranking, in the transaction that finishes a job (lib/ranking/records.h).
CREATE TABLE IF NOT EXISTS records (
  leaderboard_id  BIGINT UNSIGNED NOT NULL,
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  line            BIGINT UNSIGNED NOT NULL COMMENT 'user_id, or 0: the fastest of all',
  submission_id   BIGINT UNSIGNED NOT NULL,
  job_id          BIGINT UNSIGNED NOT NULL,
  user_id         BIGINT UNSIGNED NOT NULL,
  score_ns        DOUBLE NOT NULL,
  submitted_at    DATETIME(3) NOT NULL,
  PRIMARY KEY (leaderboard_id, task_version_id, gpu, line, submission_id),
  KEY records_job (job_id),
  KEY records_user (user_id),
  CONSTRAINT records_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT records_job FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
  CONSTRAINT records_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- What `podium-admin ranking rebuild` would write.
INSERT IGNORE INTO records (leaderboard_id, task_version_id, gpu, line, submission_id, job_id, user_id, score_ns, submitted_at)
  SELECT leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, user_id, score_ns, submitted_at
  FROM (SELECT s.leaderboard_id, s.task_version_id, j.gpu, s.user_id, s.id AS submission_id, j.id AS job_id, j.score_ns, s.submitted_at,
      MIN(j.score_ns) OVER (PARTITION BY s.task_version_id, j.gpu, s.user_id ORDER BY s.id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM submissions s JOIN jobs j ON j.submission_id = s.id
    WHERE s.mode = 'ranked' AND j.state = 'done' AND j.verdict = 'passed' AND j.score_ns IS NOT NULL
      AND NOT (j.held_at IS NOT NULL AND j.released_by IS NULL)) ranked
  WHERE before_ns IS NULL OR score_ns < before_ns;
INSERT IGNORE INTO records (leaderboard_id, task_version_id, gpu, line, submission_id, job_id, user_id, score_ns, submitted_at)
  SELECT leaderboard_id, task_version_id, gpu, 0, submission_id, job_id, user_id, score_ns, submitted_at
  FROM (SELECT r.*, MIN(score_ns) OVER (PARTITION BY task_version_id, gpu ORDER BY submission_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM records r WHERE line <> 0) best
  WHERE before_ns IS NULL OR score_ns < before_ns;
