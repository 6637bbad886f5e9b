-- When others may read a leaderboard's sources, and under which license (lib/leaderboard/source_policy.h). The column
-- sources_public_after_deadline stays for programs of the previous version.
ALTER TABLE leaderboards
  ADD COLUMN IF NOT EXISTS sources_open ENUM('never', 'deadline', 'closing', 'ranked', 'always') NULL
    COMMENT 'NULL: made by a program of the previous version',
  ADD COLUMN IF NOT EXISTS source_license VARCHAR(200) NOT NULL DEFAULT '' COMMENT 'of new submissions; empty: none';
ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS source_license VARCHAR(200) NULL COMMENT 'the leaderboard''s when it arrived; NULL: none';

-- Sources that resemble each other (lib/similarity/similarity.h): of each submission with a source that its author had not
-- sent to the leaderboard before, the hashes of its tokens.
CREATE TABLE IF NOT EXISTS source_sketches (
  submission_id  BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL,
  sha256         BINARY(32) NOT NULL,
  tokens         INT UNSIGNED NOT NULL,
  hashes         BLOB NOT NULL COMMENT 'of eight bytes each, the least first',
  UNIQUE KEY source_sketches_source (leaderboard_id, user_id, sha256),
  CONSTRAINT source_sketches_submission FOREIGN KEY (submission_id) REFERENCES submissions (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- The least hashes of each sketch, to find sketches that share some.
CREATE TABLE IF NOT EXISTS sketch_hashes (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  hash           BIGINT NOT NULL,
  submission_id  BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (leaderboard_id, hash, submission_id),
  KEY sketch_hashes_submission (submission_id),
  CONSTRAINT sketch_hashes_sketch FOREIGN KEY (submission_id) REFERENCES source_sketches (submission_id) ON DELETE CASCADE
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS similar_sources (
  submission_id  BIGINT UNSIGNED NOT NULL COMMENT 'the later one',
  other_id       BIGINT UNSIGNED NOT NULL,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  percent        TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (submission_id, other_id),
  KEY similar_sources_other (other_id),
  KEY similar_sources_board (leaderboard_id, percent),
  CONSTRAINT similar_sources_submission FOREIGN KEY (submission_id) REFERENCES source_sketches (submission_id) ON DELETE CASCADE,
  CONSTRAINT similar_sources_other FOREIGN KEY (other_id) REFERENCES source_sketches (submission_id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- One row: the last submission that was compared.
CREATE TABLE IF NOT EXISTS similarity_progress (
  id            TINYINT UNSIGNED NOT NULL PRIMARY KEY CHECK (id = 1),
  submission_id BIGINT UNSIGNED NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO similarity_progress (id, submission_id) VALUES (1, 0);
