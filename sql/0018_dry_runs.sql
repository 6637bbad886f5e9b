-- What a dry run has handed in is nobody's attempt, and its report says how much memory each took and what could not be tried.

ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS dry_run BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'of dry_run_entries: no quota, history, activity or rank has it';
UPDATE submissions s JOIN dry_run_entries e ON e.submission_id = s.id SET s.dry_run = TRUE;
UPDATE jobs j JOIN dry_run_entries e ON e.submission_id = j.submission_id SET j.user_id = 0;

ALTER TABLE dry_runs
  ADD COLUMN IF NOT EXISTS untried VARCHAR(2000) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT ''
    COMMENT 'sentences, one a line: what could not be tried, and why';

ALTER TABLE stages
  ADD COLUMN IF NOT EXISTS peak_host_bytes   BIGINT UNSIGNED NULL COMMENT 'the most that a process of the submission had resident',
  ADD COLUMN IF NOT EXISTS peak_device_bytes BIGINT UNSIGNED NULL COMMENT 'the most that was in use on the GPU, by the judge and the submission';
