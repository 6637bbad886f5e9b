-- E-mails that tell the owner of an account about a change of its security (user_tell_owner in lib/account/user.h). They go to
-- the address that the account had then, also when the account is deleted.
ALTER TABLE mails
  MODIFY kind ENUM('confirm', 'password', 'changed', 'overtaken', 'finished', 'deadline', 'trouble', 'asked', 'answered', 'security') NOT NULL;
ALTER TABLE mails
  ADD COLUMN IF NOT EXISTS what VARCHAR(500) NOT NULL DEFAULT '' COMMENT 'security: what happened, one sentence',
  ADD COLUMN IF NOT EXISTS user_name VARCHAR(32) CHARACTER SET ascii NULL COMMENT 'of a deleted account, until it is sent';

-- Who forgot a password. podium-web stores each request, so that its answer takes as long whether or not the account exists.
-- podium-hooks turns the requests into mails.
CREATE TABLE IF NOT EXISTS password_requests (
  id    BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  asked VARCHAR(254) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL COMMENT 'a name or an e-mail address',
  at    DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3)
) ENGINE = InnoDB;
