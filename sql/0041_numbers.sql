-- On which devices a version of a task needs no check (lib/leaderboard/check.h). Replaces task_versions.check_waived, which
-- held for devices on which the version never ran. Programs of the previous version still write that column.

CREATE TABLE IF NOT EXISTS check_waivers (
  task_version_id BIGINT UNSIGNED NOT NULL,
  gpu             VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'empty: what concerns the task and no device',
  waived_at       DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3) COMMENT 'dry runs that start later count',
  PRIMARY KEY (task_version_id, gpu),
  CONSTRAINT check_waivers_version FOREIGN KEY (task_version_id) REFERENCES task_versions (id) ON DELETE CASCADE
) ENGINE = InnoDB;
INSERT IGNORE INTO check_waivers (task_version_id, gpu)
  SELECT id, '' FROM task_versions WHERE check_waived;
-- A version that is not in use passed on the devices that it has results on.
INSERT IGNORE INTO check_waivers (task_version_id, gpu)
  SELECT v.id, g.gpu FROM task_versions v JOIN leaderboards l ON l.id = v.leaderboard_id
  JOIN leaderboard_gpus g ON g.leaderboard_id = l.id
  WHERE v.check_waived AND g.closed_at IS NULL AND (v.id = l.task_version_id
    OR EXISTS (SELECT 1 FROM submissions s JOIN jobs j ON j.submission_id = s.id
      WHERE s.task_version_id = v.id AND j.gpu = g.gpu AND j.state = 'done'));

-- What was ranked while a leaderboard was hidden, or a device closed, counts as ranked when it becomes visible or opens
-- (lib/leaderboard/publication.h).
ALTER TABLE leaderboards
  ADD COLUMN IF NOT EXISTS hidden_since DATETIME(3) NULL COMMENT 'NULL: it is visible, or was hidden from the beginning',
  ADD COLUMN IF NOT EXISTS ranking_due  BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'podium-web will recompute the rankings',
  ADD KEY IF NOT EXISTS leaderboards_due (ranking_due);
-- A hidden leaderboard with submissions of others was visible before. When it was hidden is not known.
UPDATE leaderboards l SET l.hidden_since = l.updated_at WHERE l.visibility = 'hidden' AND l.hidden_since IS NULL
  AND EXISTS (SELECT 1 FROM submissions s JOIN users u ON u.id = s.user_id WHERE s.leaderboard_id = l.id
    AND s.user_id <> COALESCE(l.creator_id, 0) AND u.role <> 'admin');

-- A submission keeps the time of its file when its source is deleted with its author's account (cgi/action/account_deletion.c).
ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS deleted_sha256 BINARY(32) NULL COMMENT 'of the source that was deleted; sha256 is that of the text in its place',
  ADD COLUMN IF NOT EXISTS file_sha256 BINARY(32) AS (COALESCE(deleted_sha256, sha256)) PERSISTENT COMMENT 'file_times.sha256',
  ADD KEY IF NOT EXISTS submissions_file (file_sha256);
-- The hashes of sources that were deleted before are not known. Each of these files counts as different from all others.
UPDATE submissions s JOIN users u ON u.id = s.user_id SET s.deleted_sha256 = UNHEX(SHA2(CONCAT('deleted source of ', s.id), 256))
  WHERE u.deleted_at IS NOT NULL AND s.deleted_sha256 IS NULL
    AND s.sha256 = UNHEX(SHA2('This source was deleted together with its author''s account.\n', 256));

-- A record may come from another user's result of the same file (lib/ranking/records.h).
ALTER TABLE records
  ADD COLUMN IF NOT EXISTS held_id BIGINT UNSIGNED NULL COMMENT 'submission of user_id, if submission_id is that of another user';

-- podium-web reads a check that has ended without success once a minute, and not each second (lib/leaderboard/publication.c).
ALTER TABLE publications
  ADD COLUMN IF NOT EXISTS looked_at DATETIME(3) NULL COMMENT 'when its check was read and had ended; NULL: not since its last dry run began';
ALTER TABLE leaderboard_gpus
  ADD COLUMN IF NOT EXISTS looked_at DATETIME(3) NULL COMMENT 'the same of the check of a closed device';
