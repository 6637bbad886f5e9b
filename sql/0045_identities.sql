-- Accounts of identity providers with which people sign in (lib/account/identity.h). The provider's issuer and subject
-- identify a person. An e-mail address never does, because a provider may not have verified it, and because it may
-- pass to somebody else.
CREATE TABLE IF NOT EXISTS identities (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id    BIGINT UNSIGNED NOT NULL,
  issuer     VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject    VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  shown_as   VARCHAR(255) NOT NULL COMMENT 'the name at the provider; only for people to read',
  created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  used_at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3) COMMENT 'the last sign-in',
  UNIQUE KEY identities_subject (issuer, subject),
  KEY identities_user (user_id),
  CONSTRAINT identities_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Sign-ins that have begun. A row works once, in the browser that began it.
CREATE TABLE IF NOT EXISTS sign_ins (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  state_hash   BINARY(32) NOT NULL,
  browser_hash BINARY(32) NOT NULL COMMENT 'of the form token of the browser''s cookie',
  provider     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  nonce        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  verifier     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'of PKCE',
  next         VARCHAR(2000) NOT NULL COMMENT 'the page to which the sign-in leads',
  expires_at   DATETIME(3) NOT NULL,
  used_at      DATETIME(3) NULL COMMENT 'when the browser came back from the provider',
  issuer       VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'NULL: the provider has not vouched for anybody',
  subject      VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
  shown_as     VARCHAR(255) NULL,
  may_register BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'a verified e-mail address is in registration_domains',
  UNIQUE KEY sign_ins_state (state_hash),
  KEY sign_ins_browser (browser_hash),
  KEY sign_ins_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Secrets that all web hosts share. The first use of a secret makes it.
CREATE TABLE IF NOT EXISTS site_keys (
  name   VARCHAR(32) CHARACTER SET ascii NOT NULL PRIMARY KEY,
  secret BINARY(32) NOT NULL
) ENGINE = InnoDB;
