-- When others may read a leaderboard's sources, and under which license (lib/leaderboard/source_policy.h). The column
-- sources_public_after_deadline stays for programs of the previous version.
ALTER TABLE leaderboards
  ADD COLUMN IF NOT EXISTS sources_open ENUM('never', 'deadline', 'closing', 'ranked', 'always') NULL
    COMMENT 'NULL: made by a program of the previous version',
  ADD COLUMN IF NOT EXISTS source_license VARCHAR(200) NOT NULL DEFAULT '' COMMENT 'of new submissions; empty: none';
ALTER TABLE submissions
  ADD COLUMN IF NOT EXISTS source_license VARCHAR(200) NULL COMMENT 'the leaderboard''s when it arrived; NULL: none';
