-- A leaderboard, or another version of its task on a visible leaderboard, waits here until a dry run
-- of the version has passed on every device (lib/leaderboard/publication.h).

ALTER TABLE task_versions
  ADD COLUMN IF NOT EXISTS check_waived BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'an operator published it unchecked, or it is older than the check';
UPDATE task_versions v JOIN leaderboards l ON l.id = v.leaderboard_id SET v.check_waived = TRUE
  WHERE l.visibility <> 'hidden' AND NOT v.draft;

CREATE TABLE IF NOT EXISTS publications (
  leaderboard_id  BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  task_version_id BIGINT UNSIGNED NOT NULL COMMENT 'becomes the version in use',
  visibility      ENUM('public', 'closed') NOT NULL COMMENT 'of the leaderboard, if it is hidden until then',
  wanted_at       DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  accepted_dry_run_id BIGINT UNSIGNED NULL COMMENT 'publish in spite of the warnings of this dry run',
  KEY publications_version (task_version_id),
  CONSTRAINT publications_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT publications_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- What the creators of a leaderboard have not looked at yet: its jobs that ended with an internal error.
CREATE TABLE IF NOT EXISTS internal_errors (
  leaderboard_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  errors         INT UNSIGNED NOT NULL DEFAULT 1,
  since          DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  newest_job_id  BIGINT UNSIGNED NOT NULL COMMENT 'jobs.id, which may be deleted',
  CONSTRAINT internal_errors_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;
