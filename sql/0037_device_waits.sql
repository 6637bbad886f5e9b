-- Two Podiums on one machine take turns on its devices. A worker that waits for another one's turn to end says so here.

ALTER TABLE gpus
  ADD COLUMN IF NOT EXISTS waits_since DATETIME(3) NULL COMMENT 'since when its worker waits for another Podium on the machine; NULL: it does not' AFTER quarantine_reason;
