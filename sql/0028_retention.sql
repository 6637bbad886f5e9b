-- What is removed when it has reached the age that the settings retain_... say (lib/database/retention.h), and how pages know of it.

ALTER TABLE stages
  ADD COLUMN IF NOT EXISTS output_days    SMALLINT UNSIGNED NULL COMMENT 'stdout and stderr were removed after so many days; NULL: they were not',
  ADD COLUMN IF NOT EXISTS samples_days   SMALLINT UNSIGNED NULL COMMENT 'measurements.samples, likewise',
  ADD COLUMN IF NOT EXISTS artifacts_days SMALLINT UNSIGNED NULL COMMENT 'artifacts and measurements.report, likewise';

ALTER TABLE jobs ADD KEY IF NOT EXISTS jobs_finished (finished_at);

-- How far it has come: all jobs up to this one, in the order in which they ended. A job never ends in the past, so none is missed.
CREATE TABLE IF NOT EXISTS prunings (
  kind        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY COMMENT 'samples, output, artifacts',
  finished_at DATETIME(3) NOT NULL COMMENT 'jobs.finished_at of the last one',
  job_id      BIGINT UNSIGNED NOT NULL COMMENT 'jobs.id of the last one'
) ENGINE = InnoDB;
INSERT IGNORE INTO prunings (kind, finished_at, job_id) VALUES ('samples', '1970-01-01', 0), ('output', '1970-01-01', 0), ('artifacts', '1970-01-01', 0);
