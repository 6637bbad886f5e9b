-- The database @worker@, which workers with their own account use instead of @main@. The tables and
-- views have the same names as in @main@, but show and write only what the connected worker needs.
-- podium-admin replaces the @ names, creates the database with the first invitation and updates it
-- with each migration. docs/worker-hosts.md describes what it grants.
--
-- The connected user, USER(), identifies the worker: worker_accounts binds each user to the name of
-- one worker. Views run with the rights of their creator, so no grant reaches a table of @main@.
-- WITH CHECK OPTION refuses rows that the worker would not see.
--
-- Key columns may not be updated. Otherwise INSERT ... ON DUPLICATE KEY UPDATE could take over
-- another worker's row. A worker sees no rows before it uses its invitation and after its account
-- is revoked.

CREATE DATABASE IF NOT EXISTS @worker@ CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- ---- the connected worker and the schema's version ----

CREATE OR REPLACE VIEW @worker@.schema_migrations AS SELECT version FROM @main@.schema_migrations;
CREATE OR REPLACE VIEW @worker@.compatibility AS SELECT oldest_program FROM @main@.compatibility;
CREATE OR REPLACE VIEW @worker@.worker_self AS SELECT name FROM @main@.worker_accounts
  WHERE user = CONVERT(SUBSTRING_INDEX(USER(), '@', 1) USING ascii) AND registered_at IS NOT NULL;
CREATE OR REPLACE VIEW @worker@.worker_rights AS
  SELECT FALSE AS is_full, (SELECT name FROM @worker@.worker_self) AS name;

-- ---- the worker and its devices ----

CREATE OR REPLACE VIEW @worker@.workers AS
  SELECT id, name, version, protocol, host, checks, instance, figures, started_at, seen_at
    FROM @main@.workers
  WHERE name = (SELECT name FROM @worker@.worker_self) WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.gpus AS
  SELECT worker_id, uuid, model, product, memory_bytes, driver, compute_capability, seen_at,
    quarantined_at, quarantine_reason, waits_since
  FROM @main@.gpus WHERE worker_id IN (SELECT id FROM @worker@.workers) WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.device_vitals AS
  SELECT worker, uuid, minute, at, temperature_c, sm_mhz, memory_mhz, errors
    FROM @main@.device_vitals
  WHERE worker = (SELECT name FROM @worker@.worker_self) WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.pauses AS
  SELECT worker, uuid FROM @main@.pauses WHERE worker = (SELECT name FROM @worker@.worker_self);

-- ---- the queue: numbers, no names ----

CREATE OR REPLACE VIEW @worker@.queue_by_age AS
  SELECT id, user_id, gpu, priority FROM @main@.jobs FORCE INDEX (jobs_age) WHERE state = 'queued';
CREATE OR REPLACE VIEW @worker@.queue_by_turn AS
  SELECT id, user_id, gpu, priority FROM @main@.jobs FORCE INDEX (jobs_turn) WHERE state = 'queued';
CREATE OR REPLACE VIEW @worker@.queue_running AS
  SELECT user_id FROM @main@.jobs FORCE INDEX (jobs_lease) WHERE state = 'running';

-- ---- the jobs that the worker has leased ----

CREATE OR REPLACE VIEW @worker@.jobs AS
  SELECT id, submission_id, rejudged_id, state, attempt, fence, lease_expires, progress,
    environment, written, written_fence
  FROM @main@.jobs WHERE lease_owner = (SELECT name FROM @worker@.worker_self)
  AND state IN ('running', 'cancelled')
  WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.assignments AS
  SELECT job_id, task_version_id, secret_seed, mode, definition, file_name, sha256, source,
    rival_name, rival_sha256, rival_source, engine, engine_reason, is_dry_run,
    is_sealed
  FROM @main@.assignments WHERE job_id IN (SELECT id FROM @worker@.jobs WHERE state = 'running');
CREATE OR REPLACE VIEW @worker@.assignment_files AS
  SELECT job_id, path, sha256, content FROM @main@.assignment_files
  WHERE job_id IN (SELECT id FROM @worker@.jobs WHERE state = 'running');
-- ---- tasks whose kits the worker builds before a job needs them (worker/kits.h) ----

CREATE OR REPLACE VIEW @worker@.kits AS
  SELECT gpu, task_version_id, definition, engine FROM @main@.kits
  WHERE gpu IN (SELECT model FROM @worker@.gpus);
CREATE OR REPLACE VIEW @worker@.kit_files AS
  SELECT task_version_id, path, sha256, content FROM @main@.kit_files
  WHERE task_version_id IN (SELECT task_version_id FROM @worker@.kits);

-- ---- what the worker writes about its jobs ----

CREATE OR REPLACE VIEW @worker@.stages AS
  SELECT * FROM @main@.stages WHERE job_id IN (SELECT id FROM @worker@.jobs WHERE state = 'running')
    WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.measurements AS
  SELECT * FROM @main@.measurements WHERE stage_id IN (SELECT id FROM @worker@.stages)
    WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.artifacts AS
  SELECT * FROM @main@.artifacts WHERE stage_id IN (SELECT id FROM @worker@.stages)
    WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.artifact_parts AS
  SELECT * FROM @main@.artifact_parts WHERE artifact_id IN (SELECT id FROM @worker@.artifacts)
    WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.plans AS
  SELECT * FROM @main@.plans WHERE stage_id IN (SELECT id FROM @worker@.stages)
    WITH CASCADED CHECK OPTION;
CREATE OR REPLACE VIEW @worker@.plan_uses AS
  SELECT * FROM @main@.plan_uses WHERE plan_id IN (SELECT id FROM @worker@.plans)
    WITH CASCADED CHECK OPTION;
-- All workers share the blobs. A worker sees whether one is there, but not its content.
CREATE OR REPLACE VIEW @worker@.plan_blobs AS
  SELECT sha256, size, packed, checksum, seen_at FROM @main@.plan_blobs;
CREATE OR REPLACE VIEW @worker@.plan_blob_parts AS
  SELECT sha256, part, content FROM @main@.plan_blob_parts;
CREATE OR REPLACE VIEW @worker@.endings AS
  SELECT job_id, fence, kind, reason, verdict, score_ns, score_err_ns, engine, engine_reason,
    ratio, ratio_low, ratio_high, loser
  FROM @main@.endings
  WHERE (job_id, fence) IN (SELECT id, fence FROM @worker@.jobs WHERE state = 'running')
  WITH CASCADED CHECK OPTION;

-- ---- procedures, for what views cannot do ----

-- Leases a job to a device of the connected worker: the first of the named jobs that is still
-- queued, or the oldest job if id_1 is 0. It does the same as claim_body in worker/queue.c, which
-- decides whose turn it is.
CREATE OR REPLACE PROCEDURE @worker@.take_job(
  IN device VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin, IN lease_ms BIGINT,
  IN id_1 BIGINT, IN id_2 BIGINT, IN id_3 BIGINT, IN id_4 BIGINT, IN id_5 BIGINT, IN id_6 BIGINT,
  IN id_7 BIGINT, IN id_8 BIGINT, IN id_9 BIGINT, IN id_10 BIGINT, IN id_11 BIGINT,
  IN id_12 BIGINT, IN id_13 BIGINT, IN id_14 BIGINT, IN id_15 BIGINT, IN id_16 BIGINT)
  MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE self VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci;
  DECLARE offered VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE taken, its_worker BIGINT UNSIGNED;
  -- Pausing a worker locks this row exclusively, so it waits for claims in progress.
  SELECT w.id, w.name INTO its_worker, self FROM @worker@.workers w
    JOIN @main@.compatibility c ON w.protocol >= c.oldest_program
    LOCK IN SHARE MODE;
  SELECT g.model INTO offered FROM @main@.gpus g WHERE g.worker_id = its_worker AND g.uuid = device
    AND g.quarantined_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM @main@.pauses p WHERE p.worker = self AND p.uuid IN ('', device));
  IF id_1 = 0 THEN
    SELECT id INTO taken FROM @main@.jobs FORCE INDEX (jobs_age) WHERE gpu = offered
      AND state = 'queued'
      ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED;
  ELSE
    SELECT id INTO taken FROM @main@.jobs FORCE INDEX (PRIMARY)
      WHERE id IN (id_1, id_2, id_3, id_4, id_5, id_6, id_7, id_8,
        id_9, id_10, id_11, id_12, id_13, id_14, id_15, id_16)
      AND state = 'queued' AND gpu = offered ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
  END IF;
  UPDATE @main@.jobs SET state = 'running', fence = fence + 1, attempt = attempt + 1,
    lease_owner = self, lease_device = device,
    lease_expires = UTC_TIMESTAMP(3)
      + INTERVAL LEAST(GREATEST(lease_ms, 1000), 600000) * 1000 MICROSECOND,
    started_at = UTC_TIMESTAMP(3), progress = 'starting', environment = NULL WHERE id = taken;
  DELETE FROM @main@.stages WHERE job_id = taken;
  SELECT id AS job_id, fence, attempt, submission_id, rejudged_id FROM @main@.jobs WHERE id = taken;
END;

-- Uses an invitation: the user who connected with its token gets a new password and the rights.
CREATE OR REPLACE PROCEDURE @worker@.register(
  IN password VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin)
  MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
  DECLARE its_user VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin
    DEFAULT CONVERT(SUBSTRING_INDEX(USER(), '@', 1) USING ascii);
  DECLARE its_host VARCHAR(255) DEFAULT SUBSTRING_INDEX(USER(), '@', -1);
  DECLARE its_name VARCHAR(64) CHARACTER SET ascii;
  UPDATE @main@.worker_accounts SET registered_at = UTC_TIMESTAMP(3), registered_from = its_host
    WHERE user = its_user AND registered_at IS NULL AND expires_at > UTC_TIMESTAMP(3)
    AND password REGEXP '^[A-Za-z0-9_-]{40,64}$';
  IF ROW_COUNT() <> 1 THEN
    SIGNAL SQLSTATE '45000'
    SET MESSAGE_TEXT = 'the invitation was used already, has expired or was revoked';
  END IF;
  SELECT name INTO its_name FROM @main@.worker_accounts WHERE user = its_user;
  INSERT INTO @main@.audit_log (actor, address, action, subject, detail)
    VALUES ('podium-worker', LEFT(its_host, 45), 'worker.register', its_name,
      CONCAT('as the database''s user ', its_user));
  INSERT IGNORE INTO @main@.audit_actions (name) VALUES ('worker.register');
  EXECUTE IMMEDIATE CONCAT('ALTER USER ', QUOTE(its_user), '@''%'' IDENTIFIED BY ',
    QUOTE(password));
END;

-- ---- rights of the role that all these users have ----

CREATE ROLE IF NOT EXISTS @worker@;
GRANT SELECT ON @worker@.worker_rights TO @worker@;
GRANT SELECT ON @worker@.schema_migrations TO @worker@;
GRANT SELECT ON @worker@.compatibility TO @worker@;
GRANT SELECT ON @worker@.pauses TO @worker@;
GRANT SELECT ON @worker@.queue_by_age TO @worker@;
GRANT SELECT ON @worker@.queue_by_turn TO @worker@;
GRANT SELECT ON @worker@.queue_running TO @worker@;
GRANT SELECT ON @worker@.assignments TO @worker@;
GRANT SELECT ON @worker@.assignment_files TO @worker@;
GRANT SELECT ON @worker@.kits TO @worker@;
GRANT SELECT ON @worker@.kit_files TO @worker@;
GRANT SELECT,
  INSERT (name, version, protocol, host, checks, instance, figures, started_at, seen_at),
  UPDATE (version, protocol, host, checks, instance, figures, started_at, seen_at)
  ON @worker@.workers TO @worker@;
GRANT SELECT, INSERT, DELETE,
  UPDATE (model, product, memory_bytes, driver, compute_capability, seen_at, quarantined_at,
    quarantine_reason, waits_since) ON @worker@.gpus TO @worker@;
GRANT SELECT, INSERT, UPDATE (at, temperature_c, sm_mhz, memory_mhz, errors)
  ON @worker@.device_vitals TO @worker@;
GRANT SELECT, UPDATE (lease_expires, progress, environment, written, written_fence)
  ON @worker@.jobs TO @worker@;
GRANT SELECT, INSERT (job_id, position, name, command, message, stdout, stderr),
  UPDATE (verdict, message, exit_code, duration_ms, command, stdout, stderr, kernels, conditions,
    tail, peak_host_bytes, peak_device_bytes)
  ON @worker@.stages TO @worker@;
GRANT SELECT,
  INSERT (stage_id, case_index, spec, verdict, message, runs, mean_ns, std_ns, err_ns, best_ns,
    worst_ns, floor_ns),
  UPDATE (median_ns, low_ns, high_ns, constant_ns, own_ns, gap_ns, blocks, repeated, samples,
    device, rival_ns, ratio, ratio_low, ratio_high, report)
  ON @worker@.measurements TO @worker@;
GRANT SELECT, INSERT (stage_id, name, size) ON @worker@.artifacts TO @worker@;
GRANT INSERT ON @worker@.artifact_parts TO @worker@;
GRANT SELECT, INSERT (stage_id, case_index, sha256, size, nodes) ON @worker@.plans TO @worker@;
GRANT INSERT ON @worker@.plan_uses TO @worker@;
GRANT SELECT (sha256, size, seen_at), INSERT, UPDATE (seen_at)
  ON @worker@.plan_blobs TO @worker@;
GRANT INSERT ON @worker@.plan_blob_parts TO @worker@;
GRANT INSERT ON @worker@.endings TO @worker@;
GRANT EXECUTE ON PROCEDURE @worker@.take_job TO @worker@;
GRANT EXECUTE ON PROCEDURE @worker@.register TO @worker@;
