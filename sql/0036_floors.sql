-- Times that cannot be told from nothing on their device (lib/gpu/floor.h).

ALTER TABLE measurements
  ADD COLUMN IF NOT EXISTS floor_ns DOUBLE NULL
    COMMENT 'set if mean_ns is below it: the time that counts in the score instead' AFTER worst_ns;
