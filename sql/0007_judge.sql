-- What the isolated engine says of a timed case, and results that an admin looks at before they are ranked.

ALTER TABLE measurements
  ADD COLUMN IF NOT EXISTS median_ns   DOUBLE NULL COMMENT 'of the calls that count',
  ADD COLUMN IF NOT EXISTS low_ns      DOUBLE NULL COMMENT '95 % interval of mean_ns',
  ADD COLUMN IF NOT EXISTS high_ns     DOUBLE NULL,
  ADD COLUMN IF NOT EXISTS constant_ns DOUBLE NULL COMMENT 'what the null contestant took, subtracted from every call',
  ADD COLUMN IF NOT EXISTS own_ns      DOUBLE NULL COMMENT 'what the submission measured itself: shown, never ranked',
  ADD COLUMN IF NOT EXISTS gap_ns      DOUBLE NULL COMMENT 'overrun of the time between calls, charged',
  ADD COLUMN IF NOT EXISTS blocks      SMALLINT UNSIGNED NULL,
  ADD COLUMN IF NOT EXISTS repeated    SMALLINT UNSIGNED NULL COMMENT 'blocks that were measured again',
  ADD COLUMN IF NOT EXISTS samples     MEDIUMBLOB NULL COMMENT 'float32, little-endian, ns: each call that counts, block after block; 4000 at most',
  ADD COLUMN IF NOT EXISTS device      LONGTEXT NULL COMMENT 'JSON: {"sm_clock_mhz": [least, most], ..., "slowed_by": [...]} over the blocks';

-- Held: passed, but not ranked until an admin has looked. A result that was released is ranked like any other; one that
-- was rejected has another verdict and keeps held_at.
ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS engine_reason TEXT NULL COMMENT 'one sentence: why custom where isolated was wanted',
  ADD COLUMN IF NOT EXISTS held_at     DATETIME(3) NULL,
  ADD COLUMN IF NOT EXISTS held_reason TEXT NULL COMMENT 'one sentence with the numbers; for its author and admins',
  ADD COLUMN IF NOT EXISTS released_by BIGINT UNSIGNED NULL COMMENT 'users.id of the admin; 0: podium-admin',
  ADD KEY IF NOT EXISTS jobs_held (held_at);

-- So that a ranking's page needs no row of jobs.
ALTER TABLE ranking ADD COLUMN IF NOT EXISTS engine ENUM('custom', 'isolated') NULL COMMENT 'jobs.engine once more';
UPDATE ranking r JOIN jobs j ON j.id = r.job_id SET r.engine = j.engine WHERE r.engine IS NULL;
