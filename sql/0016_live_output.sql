-- What a submission prints while it runs, for its author to look at.

ALTER TABLE stages
  ADD COLUMN IF NOT EXISTS tail TEXT NULL COMMENT 'JSON: the last lines of stdout and stderr so far; NULL again when the stage has ended';
