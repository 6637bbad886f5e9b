-- Equal source has one time on a device: the mean of all its ranked results, whoever submitted them (lib/ranking/file_time.h).
-- podium-admin migrate fills the table and orders the rankings again.

CREATE TABLE IF NOT EXISTS file_times (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sha256          BINARY(32) NOT NULL COMMENT 'submissions.sha256',
  results         INT UNSIGNED NOT NULL COMMENT 'how many jobs the time comes from',
  score_ns        DOUBLE NOT NULL,
  score_err_ns    DOUBLE NULL,
  UNIQUE KEY file_times_file (task_version_id, gpu, sha256),
  CONSTRAINT file_times_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE
) ENGINE = InnoDB;

ALTER TABLE ranking
  ADD COLUMN IF NOT EXISTS file_id BIGINT UNSIGNED NULL COMMENT 'file_times.id: entries of equal source tie';
