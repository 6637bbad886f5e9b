-- A terminal that asks to be signed in: somebody who is logged in confirms it in a browser, and its secret becomes an API
-- token. Before that the secret opens nothing; only its SHA-256 is stored.
CREATE TABLE IF NOT EXISTS terminals (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  kind         ENUM('podium', 'popcorn') NOT NULL COMMENT 'popcorn: it has no code and never asks again',
  secret_hash  BINARY(32) NOT NULL,
  prefix       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the first characters of the secret',
  user_code    CHAR(8) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'what the terminal shows; NULL: nothing',
  name         VARCHAR(64) NOT NULL COMMENT 'as it calls itself',
  address      VARCHAR(45) CHARACTER SET ascii NOT NULL,
  user_agent   VARCHAR(255) NOT NULL,
  scopes       SET('read', 'submit', 'admin') NOT NULL COMMENT 'that it asks for',
  created_at   DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  expires_at   DATETIME(3) NOT NULL,
  polled_at    DATETIME(3) NULL COMMENT 'when it asked last whether it is signed in',
  interval_s   SMALLINT UNSIGNED NOT NULL COMMENT 'how long it waits before it asks again',
  user_id      BIGINT UNSIGNED NULL COMMENT 'who has decided; NULL: nobody yet',
  refused      BOOLEAN NOT NULL DEFAULT FALSE,
  UNIQUE KEY terminals_secret (secret_hash),
  UNIQUE KEY terminals_code (user_code),
  KEY terminals_expires (expires_at),
  KEY terminals_user (user_id),
  CONSTRAINT terminals_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- While there is a row no submission is taken in, on any leaderboard.
CREATE TABLE IF NOT EXISTS intake_stops (
  id         TINYINT UNSIGNED NOT NULL PRIMARY KEY COMMENT '1: there is one stop or none',
  stopped_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  stopped_by VARCHAR(32) CHARACTER SET ascii NOT NULL COMMENT 'users.name',
  CONSTRAINT intake_stops_one CHECK (id = 1)
) ENGINE = InnoDB;

-- Who has become a member by which code.
CREATE TABLE IF NOT EXISTS invite_uses (
  invite_id BIGINT UNSIGNED NOT NULL,
  user_id   BIGINT UNSIGNED NOT NULL,
  used_at   DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (invite_id, user_id),
  KEY invite_uses_user (user_id),
  CONSTRAINT invite_uses_invite FOREIGN KEY (invite_id) REFERENCES invites (id) ON DELETE CASCADE,
  CONSTRAINT invite_uses_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;
