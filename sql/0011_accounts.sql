-- What belongs to an account: tokens for programs, what its owner is told, and its end.

-- Only the SHA-256 of a token is stored; the prefix is for its owner to know it by.
CREATE TABLE IF NOT EXISTS api_tokens (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id    BIGINT UNSIGNED NOT NULL,
  name       VARCHAR(64) NOT NULL,
  prefix     VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the first characters of the token',
  token_hash BINARY(32) NOT NULL,
  scopes     SET('read', 'submit', 'admin') NOT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  expires_at DATETIME(3) NULL COMMENT 'NULL: never',
  used_at    DATETIME(3) NULL COMMENT 'within a minute; NULL: never',
  UNIQUE KEY api_tokens_hash (token_hash),
  UNIQUE KEY api_tokens_name (user_id, name),
  CONSTRAINT api_tokens_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Who was overtaken in which ranking, and by whom last, until he has dismissed it.
CREATE TABLE IF NOT EXISTS overtakings (
  user_id         BIGINT UNSIGNED NOT NULL,
  leaderboard_id  BIGINT UNSIGNED NOT NULL,
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  by_user_id      BIGINT UNSIGNED NOT NULL,
  at              DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (user_id, leaderboard_id, task_version_id, gpu),
  CONSTRAINT overtakings_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT overtakings_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT overtakings_by FOREIGN KEY (by_user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- From where a session was used last, within a minute; NULL: only where it began.
ALTER TABLE sessions
  ADD COLUMN IF NOT EXISTS seen_address    VARCHAR(45) CHARACTER SET ascii NULL,
  ADD COLUMN IF NOT EXISTS seen_user_agent VARCHAR(255) NULL;

-- Rankings keep an account that was deleted, under a name that says no more than that.
ALTER TABLE users ADD COLUMN IF NOT EXISTS deleted_at DATETIME(3) NULL;
