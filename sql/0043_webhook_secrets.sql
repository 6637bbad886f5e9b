-- A webhook's secret can be replaced. Until `old_secret_until`, deliveries carry a signature by each of the two.
ALTER TABLE webhooks
  ADD COLUMN IF NOT EXISTS old_secret VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL AFTER secret,
  ADD COLUMN IF NOT EXISTS old_secret_until DATETIME(3) NULL AFTER old_secret;
