-- A cluster's nodes do not know of each other's locks: what two of them do at once is held against each other by the rows that are
-- written. Whoever changes a ranking therefore writes a row of it, so that of two who do it on different nodes one comes after the other.

ALTER TABLE leaderboard_gpus ADD COLUMN IF NOT EXISTS turn BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'grows with each change of this ranking';
