-- What keeps results whole when something breaks in between.

-- A result is stored in pieces. Whether the last piece has arrived is not known when the connection broke at the wrong
-- moment, so each says how many events of a claim are stored with it.
ALTER TABLE jobs
  ADD COLUMN IF NOT EXISTS written_fence BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'the claim that `written` counts for',
  ADD COLUMN IF NOT EXISTS written INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'events of podium-run that are stored',
  ADD COLUMN IF NOT EXISTS lost_gpus TINYINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'GPUs that stopped working under it';

-- Tells two processes of one name apart, whatever their clocks say.
ALTER TABLE workers ADD COLUMN IF NOT EXISTS instance BIGINT UNSIGNED NOT NULL DEFAULT 0;

-- A GPU that has stopped working gets no jobs until it is released.
ALTER TABLE gpus
  ADD COLUMN IF NOT EXISTS quarantined_at DATETIME(3) NULL,
  ADD COLUMN IF NOT EXISTS quarantine_reason TEXT NULL COMMENT 'one sentence; NULL: it is not in quarantine';
