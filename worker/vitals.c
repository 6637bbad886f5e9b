#include "worker/vitals.h"

#include "lib/base/clock.h"

enum { keep_every_ms = 60 * 1000 };

/* A row's key ends with the minute of the day, so several calls in one minute update the same row.
 * Updates do not change the key: that would need a further right (worker/registration.c). */
#define MINUTE "HOUR(UTC_TIMESTAMP()) * 60 + MINUTE(UTC_TIMESTAMP())"
static const struct statement CHANGE =
	COMMAND("UPDATE device_vitals "
			"SET errors = IF(at > UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, errors, 0) + ?, "
			"at = UTC_TIMESTAMP(3), temperature_c = ?, sm_mhz = ?, memory_mhz = ? "
			"WHERE worker = ? AND uuid = ? AND minute = " MINUTE);
static const struct statement ADD =
	COMMAND("INSERT INTO device_vitals "
			"(errors, at, temperature_c, sm_mhz, memory_mhz, worker, uuid, minute) "
			"VALUES (?, UTC_TIMESTAMP(3), ?, ?, ?, ?, ?, " MINUTE ")");

static int64_t read_temperature(const struct gpu_health *health)
{
	unsigned int value;
	bool is_known = health->is_open && health->nvml.temperature
		&& !health->nvml.temperature(health->device, NVML_GPU_SENSOR, &value) && value < 1000;
	return is_known ? value : SQL_NULL_INTEGER;
}

static int64_t read_clock(const struct gpu_health *health, unsigned int kind)
{
	unsigned int value;
	bool is_known =
		health->is_open && health->nvml.clock && !health->nvml.clock(health->device, kind, &value);
	return is_known ? value : SQL_NULL_INTEGER;
}

static int store_row(const struct statement *statement, struct database *db, const char *worker,
	const struct device *device, const struct gpu_health *health)
{
	return database_execute(db, statement, NULL, "iiiiss", health->reported,
		read_temperature(health), read_clock(health, NVML_SM_CLOCK),
		read_clock(health, NVML_MEMORY_CLOCK), worker, device->uuid);
}

void vitals_keep(struct vitals *vitals, struct database *db, const char *worker,
	const struct device *device, struct gpu_health *health)
{
	bool is_due =
		!vitals->kept_at_ms || clock_ms() - vitals->kept_at_ms >= keep_every_ms || health->reported;
	if (device_is_cpu(device) || !is_due)
		return;
	int rc = store_row(&CHANGE, db, worker, device, health);
	if (!rc && !database_affected(db))
		rc = store_row(&ADD, db, worker, device, health);
	if (rc)
		return;
	vitals->kept_at_ms = clock_ms();
	health->reported = 0;
}
