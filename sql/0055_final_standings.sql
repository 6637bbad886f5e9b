-- The final standings of contests (lib/contest/standings.h), so that no later change of a problem changes them.

ALTER TABLE contests
  ADD COLUMN IF NOT EXISTS standings_stored BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'in the tables below';

CREATE TABLE IF NOT EXISTS contest_final_columns (
  contest_id     BIGINT UNSIGNED NOT NULL,
  position       SMALLINT UNSIGNED NOT NULL,
  leaderboard_id BIGINT UNSIGNED NULL COMMENT 'NULL: deleted since',
  problem        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  gpu            VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  is_public      BOOLEAN NOT NULL COMMENT 'everybody sees the name when the leaderboard is deleted',
  PRIMARY KEY (contest_id, position),
  KEY contest_final_columns_leaderboard (leaderboard_id),
  CONSTRAINT contest_final_columns_contest FOREIGN KEY (contest_id) REFERENCES contests (id) ON DELETE CASCADE,
  CONSTRAINT contest_final_columns_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE SET NULL
) ENGINE = InnoDB;

-- The name is the account's, so that it goes when the account is deleted.
CREATE TABLE IF NOT EXISTS contest_final_rows (
  contest_id BIGINT UNSIGNED NOT NULL,
  position   INT UNSIGNED NOT NULL,
  user_id    BIGINT UNSIGNED NOT NULL,
  place      INT UNSIGNED NOT NULL,
  is_tied    BOOLEAN NOT NULL,
  points     DOUBLE NOT NULL,
  PRIMARY KEY (contest_id, position),
  KEY contest_final_rows_user (user_id),
  CONSTRAINT contest_final_rows_contest FOREIGN KEY (contest_id) REFERENCES contests (id) ON DELETE CASCADE,
  CONSTRAINT contest_final_rows_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- A row without a result in a column has none here.
CREATE TABLE IF NOT EXISTS contest_final_results (
  contest_id      BIGINT UNSIGNED NOT NULL,
  row_position    INT UNSIGNED NOT NULL,
  column_position SMALLINT UNSIGNED NOT NULL,
  place           INT UNSIGNED NOT NULL COMMENT 'on the leaderboard',
  contest_rank    INT UNSIGNED NOT NULL COMMENT 'among the contestants',
  is_tied         BOOLEAN NOT NULL,
  points          DOUBLE NOT NULL,
  score_ns        DOUBLE NOT NULL,
  score_err_ns    DOUBLE NULL,
  submission_id   BIGINT UNSIGNED NULL COMMENT 'NULL: deleted since',
  PRIMARY KEY (contest_id, row_position, column_position),
  KEY contest_final_results_submission (submission_id),
  CONSTRAINT contest_final_results_row FOREIGN KEY (contest_id, row_position)
    REFERENCES contest_final_rows (contest_id, position) ON DELETE CASCADE,
  CONSTRAINT contest_final_results_submission FOREIGN KEY (submission_id) REFERENCES submissions (id) ON DELETE SET NULL
) ENGINE = InnoDB;
