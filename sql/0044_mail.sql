-- E-mail: addresses of accounts, and the queue of mails (lib/mail/mail.h). A site without the setting mail_server has no rows.

CREATE TABLE IF NOT EXISTS mail_addresses (
  user_id         BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  address         VARCHAR(254) CHARACTER SET ascii COLLATE ascii_general_ci NULL COMMENT 'confirmed; NULL: none yet',
  confirmed_at    DATETIME(3) NULL,
  pending         VARCHAR(254) CHARACTER SET ascii COLLATE ascii_general_ci NULL COMMENT 'entered, and not confirmed yet',
  pending_hash    BINARY(32) NULL COMMENT 'SHA-256 of the secret in the newest link to pending',
  pending_until   DATETIME(3) NULL COMMENT 'until when that link works',
  stopped_address VARCHAR(254) CHARACTER SET ascii COLLATE ascii_general_ci NULL COMMENT 'nothing is sent to it: a server refused it for ever',
  stopped_at      DATETIME(3) NULL,
  stopped_reason  VARCHAR(500) NOT NULL DEFAULT '' COMMENT 'one sentence; its owner reads it',
  kinds           SET('overtaken', 'finished', 'deadline', 'trouble') NOT NULL DEFAULT 'overtaken,deadline,trouble'
    COMMENT 'the notifications that its owner wants',
  unsubscribe_key BINARY(32) NOT NULL COMMENT 'signs the links that switch a notification off',
  KEY mail_addresses_address (address),
  KEY mail_addresses_link (pending_hash),
  CONSTRAINT mail_addresses_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Written in the transaction that does what they tell. podium-hooks composes the text when it sends, so the queue has no
-- secret of a link. No foreign keys: whoever ends a job would wait for the sender's lock then.
CREATE TABLE IF NOT EXISTS mails (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  user_id        BIGINT UNSIGNED NOT NULL,
  kind           ENUM('confirm', 'password', 'changed', 'overtaken', 'finished', 'deadline', 'trouble') NOT NULL,
  address        VARCHAR(254) CHARACTER SET ascii COLLATE ascii_general_ci NULL COMMENT 'NULL: the account''s when it is sent',
  leaderboard_id BIGINT UNSIGNED NULL,
  gpu            VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NULL,
  other_id       BIGINT UNSIGNED NULL COMMENT 'overtaken: users.id of who did; finished: submissions.id; trouble: jobs.id',
  at             DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  state          ENUM('waiting', 'sent', 'failed', 'withheld') NOT NULL DEFAULT 'waiting' COMMENT 'withheld: it was not to be sent any more',
  attempts       INT UNSIGNED NOT NULL DEFAULT 0,
  next_at        DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3) COMMENT 'of the next attempt',
  fence          BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'grows with each claim; outcomes carry it',
  lease_expires  DATETIME(3) NULL COMMENT 'somebody sends it until then',
  sentence       VARCHAR(500) NOT NULL DEFAULT '' COMMENT 'what came of the last attempt; without addresses',
  KEY mails_due (state, next_at),
  KEY mails_of_user (user_id, kind, at),
  KEY mails_at (at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- The deadlines that were told, so that each is told once. A deadline that moves is told again.
CREATE TABLE IF NOT EXISTS mail_deadlines (
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  deadline       DATETIME(3) NOT NULL,
  PRIMARY KEY (leaderboard_id, deadline),
  CONSTRAINT mail_deadlines_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE
) ENGINE = InnoDB;
