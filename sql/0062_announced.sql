-- Announcements on leaderboards for which podium-hooks has queued e-mails and webhook events
-- (hooks/announcement.h). Announcements that have begun before this migration cause none.
CREATE TABLE IF NOT EXISTS announcements_told (
  announcement_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  CONSTRAINT announcements_told_announcement FOREIGN KEY (announcement_id)
    REFERENCES announcements (id) ON DELETE CASCADE
) ENGINE = InnoDB;
INSERT IGNORE INTO announcements_told (announcement_id)
  SELECT id FROM announcements WHERE from_at <= UTC_TIMESTAMP(3);

ALTER TABLE webhooks
  MODIFY events SET('record', 'ranked', 'job', 'opened', 'ended', 'contest_started',
    'contest_ended', 'standings_final', 'asked', 'answered', 'announced') NOT NULL;
ALTER TABLE webhook_events
  MODIFY event ENUM('record', 'ranked', 'job', 'opened', 'ended', 'test', 'contest_started',
    'contest_ended', 'standings_final', 'asked', 'answered', 'announced') NOT NULL;
ALTER TABLE mail_addresses
  MODIFY kinds SET('overtaken', 'finished', 'deadline', 'trouble', 'asked', 'answered',
    'announced') NOT NULL DEFAULT 'overtaken,deadline,trouble,asked,answered,announced'
    COMMENT 'the notifications that its owner wants';
ALTER TABLE mails
  MODIFY kind ENUM('confirm', 'password', 'changed', 'overtaken', 'finished', 'deadline',
    'trouble', 'asked', 'answered', 'security', 'announced')
    NOT NULL; -- other_id: announced: announcements.id

-- On for everybody, also for accounts from before, but not for who has switched all off.
UPDATE mail_addresses SET kinds = kinds | 64 WHERE kinds <> ''; -- 64: announced
