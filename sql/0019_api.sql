-- /api/v1: requests that may be sent again, and how many came.

-- What a key has made: the same user sends the same request with it again, and is given the same submission.
CREATE TABLE IF NOT EXISTS idempotency_keys (
  user_id       BIGINT UNSIGNED NOT NULL,
  name          VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the header Idempotency-Key',
  request_hash  BINARY(32) NOT NULL COMMENT 'SHA-256 of what was sent with it',
  submission_id BIGINT UNSIGNED NULL COMMENT 'NULL only inside of the transaction that stores it',
  created_at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  PRIMARY KEY (user_id, name),
  KEY idempotency_keys_submission (submission_id),
  CONSTRAINT idempotency_keys_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT idempotency_keys_submission FOREIGN KEY (submission_id) REFERENCES submissions (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Requests of tokens and addresses in a minute of the clock, of all podium-web together (cgi/http/rate_limit.h).
CREATE TABLE IF NOT EXISTS api_requests (
  window_start INT UNSIGNED NOT NULL COMMENT 'minutes since 1970',
  subject      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'token 12, address 192.0.2.1',
  hits         INT UNSIGNED NOT NULL,
  PRIMARY KEY (window_start, subject)
) ENGINE = InnoDB;
