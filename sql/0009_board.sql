-- What a leaderboard's page tells of each entry beside its time.

ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS dialect VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL
    COMMENT 'what the source is written with (cgi/action/dialect.h); NULL: stored before that was looked at';

-- So that a ranking's page needs no row of submissions or jobs.
ALTER TABLE ranking
  ADD COLUMN IF NOT EXISTS dialect VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'submissions.dialect once more',
  ADD COLUMN IF NOT EXISTS attempts INT UNSIGNED NOT NULL DEFAULT 1 COMMENT 'ranked submissions of the user that have passed here';
UPDATE ranking r SET attempts = (SELECT COUNT(*) FROM submissions s JOIN jobs j ON j.submission_id = s.id AND j.gpu = r.gpu
  WHERE s.user_id = r.user_id AND s.leaderboard_id = r.leaderboard_id AND s.task_version_id = r.task_version_id
    AND s.mode = 'ranked' AND j.state = 'done' AND j.verdict = 'passed' AND j.score_ns IS NOT NULL
    AND NOT (j.held_at IS NOT NULL AND j.released_by IS NULL));

-- What the task's own samples and templates take: the best time of a submission that is one of them, byte for byte.
-- The dry run of a version may put its times here as well; then there is no job.
CREATE TABLE IF NOT EXISTS baselines (
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role            ENUM('template', 'sample') NOT NULL COMMENT 'task_files.role',
  path            VARCHAR(255) COLLATE utf8mb4_bin NOT NULL COMMENT 'task_files.path',
  job_id          BIGINT UNSIGNED NULL,
  submission_id   BIGINT UNSIGNED NULL,
  score_ns        DOUBLE NOT NULL,
  score_err_ns    DOUBLE NULL,
  measured_at     DATETIME(3) NOT NULL,
  PRIMARY KEY (task_version_id, gpu, role, path),
  CONSTRAINT baselines_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE,
  CONSTRAINT baselines_job FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
