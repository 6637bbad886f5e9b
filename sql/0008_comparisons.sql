-- Two entries of a ranking that are too close to tell apart run against each other, interleaved on one GPU. The job of
-- a comparison says how far it is; without a result the ratio stays NULL.
CREATE TABLE IF NOT EXISTS comparisons (
  id                BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id    BIGINT UNSIGNED NOT NULL,
  task_version_id   BIGINT UNSIGNED NOT NULL,
  gpu               VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  challenger_id     BIGINT UNSIGNED NOT NULL COMMENT 'submissions.id: the one that came later into the ranking',
  challenger_job_id BIGINT UNSIGNED NOT NULL,
  incumbent_id      BIGINT UNSIGNED NOT NULL,
  incumbent_job_id  BIGINT UNSIGNED NOT NULL,
  ratio             DOUBLE NULL COMMENT 'the challenger''s time / the incumbent''s',
  ratio_low         DOUBLE NULL COMMENT '95 % interval',
  ratio_high        DOUBLE NULL,
  made_at           DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  KEY comparisons_ranking (leaderboard_id, task_version_id, gpu),
  KEY comparisons_challenger (challenger_job_id, incumbent_job_id),
  KEY comparisons_incumbent (incumbent_job_id),
  CONSTRAINT comparisons_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT comparisons_challenger FOREIGN KEY (challenger_job_id) REFERENCES jobs (id) ON DELETE CASCADE,
  CONSTRAINT comparisons_incumbent FOREIGN KEY (incumbent_job_id) REFERENCES jobs (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- A job is a submission's or a comparison's, and is gone with it.
ALTER TABLE jobs
  MODIFY submission_id BIGINT UNSIGNED NULL COMMENT 'NULL: the job of a comparison, which has user_id 0',
  ADD COLUMN IF NOT EXISTS comparison_id BIGINT UNSIGNED NULL AFTER submission_id,
  ADD UNIQUE KEY IF NOT EXISTS jobs_comparison (comparison_id),
  ADD CONSTRAINT jobs_comparison FOREIGN KEY IF NOT EXISTS (comparison_id) REFERENCES comparisons (id) ON DELETE CASCADE,
  ADD CONSTRAINT IF NOT EXISTS jobs_owner CHECK ((submission_id IS NULL) <> (comparison_id IS NULL));

ALTER TABLE measurements
  ADD COLUMN IF NOT EXISTS rival_ns   DOUBLE NULL COMMENT 'of a comparison: the incumbent''s mean; mean_ns is the challenger''s',
  ADD COLUMN IF NOT EXISTS ratio      DOUBLE NULL COMMENT 'the challenger''s time / the incumbent''s',
  ADD COLUMN IF NOT EXISTS ratio_low  DOUBLE NULL COMMENT '95 % interval',
  ADD COLUMN IF NOT EXISTS ratio_high DOUBLE NULL;

ALTER TABLE stages MODIFY name ENUM('compile', 'test', 'benchmark', 'ranked', 'profile', 'compare') NOT NULL;
