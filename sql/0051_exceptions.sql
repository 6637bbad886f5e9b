-- Exceptions for single users of a leaderboard (lib/judging/exception.h).
CREATE TABLE IF NOT EXISTS leaderboard_extensions (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL,
  deadline       DATETIME(3) NOT NULL COMMENT 'of this user, if it is later than the leaderboard''s',
  given_by       VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name, or a program',
  given_at       DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (leaderboard_id, user_id),
  KEY leaderboard_extensions_user (user_id),
  CONSTRAINT leaderboard_extensions_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT leaderboard_extensions_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- What does not count in rankings. No foreign key to submissions, because 0 stands for all of them.
CREATE TABLE IF NOT EXISTS disqualifications (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL,
  submission_id  BIGINT UNSIGNED NOT NULL COMMENT '0: all submissions of the user to the leaderboard',
  reason         VARCHAR(500) NOT NULL COMMENT 'one sentence; the user reads it',
  given_by       VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name, or a program',
  given_at       DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (leaderboard_id, user_id, submission_id),
  KEY disqualifications_user (user_id),
  CONSTRAINT disqualifications_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT disqualifications_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Who submitted for the author, as a creator of the leaderboard or an admin.
ALTER TABLE submissions ADD COLUMN IF NOT EXISTS submitted_by BIGINT UNSIGNED NULL COMMENT 'users.id; NULL: the author';
