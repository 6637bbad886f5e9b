#include "worker/vitals.h"

#include "lib/clock.h"

enum { keep_every_ms = 60 * 1000 };

/* Several in the same minute become one row. */
static const struct statement KEEP = COMMAND(
	"INSERT INTO device_vitals (worker, uuid, minute, at, temperature_c, sm_mhz, memory_mhz, errors) "
	"VALUES (?, ?, HOUR(UTC_TIMESTAMP()) * 60 + MINUTE(UTC_TIMESTAMP()), UTC_TIMESTAMP(3), ?, ?, ?, ?) ON DUPLICATE KEY UPDATE "
	"errors = IF(at > UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, errors, 0) + VALUES(errors), at = VALUES(at), "
	"temperature_c = VALUES(temperature_c), sm_mhz = VALUES(sm_mhz), memory_mhz = VALUES(memory_mhz)");

static int64_t temperature_of(const struct health *health)
{
	unsigned int value;
	bool is_known = health->is_open && health->nvml.temperature
		&& !health->nvml.temperature(health->device, NVML_GPU_SENSOR, &value) && value < 1000;
	return is_known ? value : SQL_NULL_INTEGER;
}

static int64_t clock_of(const struct health *health, unsigned int kind)
{
	unsigned int value;
	bool is_known = health->is_open && health->nvml.clock && !health->nvml.clock(health->device, kind, &value);
	return is_known ? value : SQL_NULL_INTEGER;
}

void vitals_keep(struct vitals *vitals, struct database *db, const char *worker, const struct device *device, struct health *health)
{
	bool is_due = !vitals->kept_at_ms || clock_ms() - vitals->kept_at_ms >= keep_every_ms || health->reported;
	if (device_is_cpu(device) || !is_due)
		return;
	int rc = database_execute(db, &KEEP, NULL, "ssiiii", worker, device->uuid, temperature_of(health), clock_of(health, NVML_SM_CLOCK),
		clock_of(health, NVML_MEMORY_CLOCK), health->reported);
	if (rc)
		return;
	vitals->kept_at_ms = clock_ms();
	health->reported = 0;
}
