-- What /metrics tells of jobs and workers, kept where it happens, because a million jobs cannot be counted at every look.

-- A row is one worker's, so that workers that end jobs at the same moment do not wait for each other.
CREATE TABLE IF NOT EXISTS job_counts (
  worker  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL COMMENT 'workers.name: who had it; empty: it never ran',
  gpu     VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  outcome VARCHAR(24) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
    COMMENT 'a verdict; of an attempt: lease expired, machine failed, gpu lost (lib/job/count.h)',
  jobs    BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (worker, gpu, outcome)
) ENGINE = InnoDB;
-- What ended before; what a Podium of before ends from now on is not counted.
INSERT IGNORE INTO job_counts (worker, gpu, outcome, jobs)
  SELECT COALESCE(lease_owner, ''), gpu, verdict, COUNT(*) FROM jobs
  WHERE state IN ('done', 'failed', 'cancelled') AND verdict IS NOT NULL GROUP BY COALESCE(lease_owner, ''), gpu, verdict;

ALTER TABLE workers ADD COLUMN IF NOT EXISTS figures TEXT NULL COMMENT 'JSON: what it has done since it started (worker/figures.h)';
