-- What people read of a result beside its times, and the mode `profile`.

ALTER TABLE submissions MODIFY mode ENUM('test', 'benchmark', 'ranked', 'profile') NOT NULL;

-- A job in the mode `profile` has a stage of that name for each benchmark.
ALTER TABLE stages MODIFY name ENUM('compile', 'test', 'benchmark', 'ranked', 'profile') NOT NULL,
  ADD COLUMN IF NOT EXISTS kernels LONGTEXT NULL COMMENT 'JSON: what ptxas says of each; only for CUDA C++',
  ADD COLUMN IF NOT EXISTS conditions LONGTEXT NULL COMMENT 'JSON: clocks, temperature and power of the GPU before, while and after it was timed';

ALTER TABLE measurements ADD COLUMN IF NOT EXISTS report MEDIUMTEXT NULL COMMENT 'of a profiler; its author''s, like the source';

-- Files that a stage left, for download. They are kept as gzip, in parts that fit into one statement each.
CREATE TABLE IF NOT EXISTS artifacts (
  id       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  stage_id BIGINT UNSIGNED NOT NULL,
  name     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'profile-1.ncu-rep',
  size     INT UNSIGNED NOT NULL COMMENT 'bytes, unpacked',
  UNIQUE KEY artifacts_stage (stage_id, name),
  CONSTRAINT artifacts_stage FOREIGN KEY (stage_id) REFERENCES stages (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE IF NOT EXISTS artifact_parts (
  artifact_id BIGINT UNSIGNED NOT NULL,
  part        SMALLINT UNSIGNED NOT NULL,
  content     MEDIUMBLOB NOT NULL,
  PRIMARY KEY (artifact_id, part),
  CONSTRAINT artifact_parts_artifact FOREIGN KEY (artifact_id) REFERENCES artifacts (id) ON DELETE CASCADE
) ENGINE = InnoDB;
