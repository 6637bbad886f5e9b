-- What a worker's host offers and lacks, as podium-run found when the worker started.
ALTER TABLE workers ADD COLUMN IF NOT EXISTS checks LONGTEXT NULL
  COMMENT 'JSON: [{"name", "state": "good" | "warning" | "fault", "found", "costs", "mend"}, ...]';
