-- Plans of the sealed engine: what one call of a submission does on the GPU (harness/sealed/plan.h). Texts and blobs are stored
-- once, by their SHA-256, as gzip in parts that fit into one statement each.

CREATE TABLE IF NOT EXISTS plan_blobs (
  sha256   BINARY(32) NOT NULL PRIMARY KEY,
  size     INT UNSIGNED NOT NULL COMMENT 'bytes, unpacked',
  packed   INT UNSIGNED NOT NULL COMMENT 'bytes of all parts together',
  checksum INT UNSIGNED NOT NULL COMMENT 'CRC-32 of the unpacked bytes, as in the gzip',
  seen_at  DATETIME(3) NOT NULL COMMENT 'about when a worker last received it; a new one may not have its plan yet'
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS plan_blob_parts (
  sha256  BINARY(32) NOT NULL,
  part    SMALLINT UNSIGNED NOT NULL,
  content MEDIUMBLOB NOT NULL,
  PRIMARY KEY (sha256, part),
  CONSTRAINT plan_blob_parts_blob FOREIGN KEY (sha256) REFERENCES plan_blobs (sha256) ON DELETE CASCADE
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS plans (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  stage_id   BIGINT UNSIGNED NOT NULL,
  case_index SMALLINT UNSIGNED NOT NULL COMMENT 'as in measurements',
  sha256     BINARY(32) NOT NULL COMMENT 'of the text, which is in plan_blobs',
  size       INT UNSIGNED NOT NULL COMMENT 'bytes of the text',
  nodes      MEDIUMTEXT NOT NULL COMMENT 'JSON: what pages show of each node (worker/plan_store.h)',
  UNIQUE KEY plans_case (stage_id, case_index),
  CONSTRAINT plans_stage FOREIGN KEY (stage_id) REFERENCES stages (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- The text and the blobs of each plan. A blob may be missing in plan_blobs.
CREATE TABLE IF NOT EXISTS plan_uses (
  plan_id BIGINT UNSIGNED NOT NULL,
  sha256  BINARY(32) NOT NULL,
  PRIMARY KEY (plan_id, sha256),
  KEY plan_uses_sha256 (sha256),
  CONSTRAINT plan_uses_plan FOREIGN KEY (plan_id) REFERENCES plans (id) ON DELETE CASCADE
) ENGINE = InnoDB;

INSERT IGNORE INTO prunings (kind, finished_at, job_id) VALUES ('plans', '1970-01-01', 0);
