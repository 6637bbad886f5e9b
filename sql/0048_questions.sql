-- Questions of participants about a leaderboard (lib/question/question.h). An answer is for who asked, or for everybody
-- who sees the leaderboard.
CREATE TABLE IF NOT EXISTS questions (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  leaderboard_id BIGINT UNSIGNED NOT NULL,
  user_id        BIGINT UNSIGNED NOT NULL COMMENT 'who asked',
  text           TEXT NOT NULL,
  asked_at       DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
  answer         TEXT NULL,
  answered_at    DATETIME(3) NULL COMMENT 'the last time',
  answered_by    BIGINT UNSIGNED NULL COMMENT 'NULL: podium-admin',
  for_all        BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'everybody who sees the leaderboard reads question and answer',
  unseen         BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'who asked has not marked the answer as read',
  KEY questions_open (leaderboard_id, answered_at, id),
  KEY questions_asker (user_id, unseen),
  CONSTRAINT questions_leaderboard FOREIGN KEY (leaderboard_id) REFERENCES leaderboards (id) ON DELETE CASCADE,
  CONSTRAINT questions_asker FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
  CONSTRAINT questions_answerer FOREIGN KEY (answered_by) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

ALTER TABLE webhooks
  MODIFY events SET('record', 'ranked', 'job', 'opened', 'ended', 'contest_started', 'contest_ended',
    'standings_final', 'asked', 'answered') NOT NULL;
ALTER TABLE webhook_events
  MODIFY event ENUM('record', 'ranked', 'job', 'opened', 'ended', 'test', 'contest_started', 'contest_ended',
    'standings_final', 'asked', 'answered') NOT NULL;
ALTER TABLE mail_addresses
  MODIFY kinds SET('overtaken', 'finished', 'deadline', 'trouble', 'asked', 'answered') NOT NULL
    DEFAULT 'overtaken,deadline,trouble,asked,answered' COMMENT 'the notifications that its owner wants';
ALTER TABLE mails
  MODIFY kind ENUM('confirm', 'password', 'changed', 'overtaken', 'finished', 'deadline', 'trouble', 'asked', 'answered')
    NOT NULL; -- other_id: asked, answered: questions.id
