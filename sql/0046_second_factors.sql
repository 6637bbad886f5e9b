-- Second factors of accounts (lib/account/factor.h): an authenticator app, passkeys, recovery codes.
CREATE TABLE IF NOT EXISTS authenticator_apps (
  user_id      BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  secret       BINARY(20) NOT NULL COMMENT 'of RFC 6238; no page shows it after the first code',
  confirmed_at DATETIME(3) NULL COMMENT 'when the owner typed the first code; NULL: being set up, until an hour after begun_at',
  begun_at     DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  last_step    BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'the 30 s of the last accepted code; no code up to it works again',
  used_at      DATETIME(3) NULL,
  CONSTRAINT authenticator_apps_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS passkeys (
  id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id         BIGINT UNSIGNED NOT NULL,
  name            VARCHAR(64) NOT NULL,
  credential_id   VARBINARY(1023) NOT NULL,
  credential_hash BINARY(32) NOT NULL COMMENT 'SHA-256 of credential_id',
  algorithm       INT NOT NULL COMMENT 'of COSE: -7 ES256, -8 EdDSA, -257 RS256',
  public_key      VARBINARY(512) NOT NULL COMMENT 'as libfido2 has it',
  sign_count      BIGINT UNSIGNED NOT NULL COMMENT 'of the last signature; 0 for ever: the key does not count',
  created_at      DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  used_at         DATETIME(3) NULL,
  UNIQUE KEY passkeys_credential (credential_hash),
  KEY passkeys_user (user_id),
  CONSTRAINT passkeys_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- A code is deleted when it is used.
CREATE TABLE IF NOT EXISTS recovery_codes (
  user_id    BIGINT UNSIGNED NOT NULL,
  code_hash  BINARY(32) NOT NULL COMMENT 'SHA-256 of 80 random bits',
  created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB;

-- What a passkey must sign next. A row is deleted when it is used.
CREATE TABLE IF NOT EXISTS passkey_challenges (
  challenge    BINARY(32) NOT NULL PRIMARY KEY,
  browser_hash BINARY(32) NOT NULL COMMENT 'of the form token of the browser''s cookie',
  purpose      ENUM('register', 'login', 'factor') NOT NULL,
  expires_at   DATETIME(3) NOT NULL,
  KEY passkey_challenges_expires (expires_at)
) ENGINE = InnoDB;

ALTER TABLE sessions
  ADD COLUMN IF NOT EXISTS opened_with ENUM('password', 'provider', 'passkey', 'link', 'registration') NULL COMMENT 'NULL: an older Podium did not say',
  ADD COLUMN IF NOT EXISTS factor ENUM('app', 'passkey', 'code', 'provider') NULL COMMENT 'what confirmed the login besides; NULL: nothing',
  ADD COLUMN IF NOT EXISTS awaits_factor BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'the password was right; until the second factor, nobody is logged in',
  ADD COLUMN IF NOT EXISTS confirmed_at DATETIME(3) NULL COMMENT 'when the user last gave a factor or, without one, logged in';
