/* The few calls of NVIDIA's management library that Podium makes. Podium declares them itself
 * because it is built without a CUDA toolkit and loads the library at run time.
 * tests/unit/test_device.c compares these declarations with nvml.h if it is installed. Source: NVML
 * API reference, "Device Queries". */
#ifndef PODIUM_LIB_GPU_NVML_H
#define PODIUM_LIB_GPU_NVML_H

enum {
	NVML_CALL_SUCCEEDED = 0,
	NVML_NOT_THERE = 12,    /* NVML_ERROR_LIBRARY_NOT_FOUND */
	NVML_GPU_IS_LOST = 15,  /* NVML_ERROR_GPU_IS_LOST */
	nvml_name_bytes = 96,   /* NVML_DEVICE_NAME_V2_BUFFER_SIZE */
	nvml_uuid_bytes = 96,   /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
	nvml_driver_bytes = 80, /* NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE */
};

struct nvmlDevice_st;                     /* opaque; the tag is the library's */
struct nvml_memory {                      /* nvmlMemory_t */
	unsigned long long total, free, used; /* bytes */
};

/* X(name in the library, member of our struct, parameters); every call returns a status. */
#define NVML_CALLS(X) \
	X(nvmlInit_v2, start, (void)) \
	X(nvmlShutdown, stop, (void)) \
	X(nvmlSystemGetDriverVersion, driver_version, (char *version, unsigned int bytes)) \
	X(nvmlDeviceGetCount_v2, device_count, (unsigned int *count)) \
	X(nvmlDeviceGetHandleByIndex_v2, device_by_index, \
		(unsigned int index, struct nvmlDevice_st **device)) \
	X(nvmlDeviceGetName, device_name, \
		(struct nvmlDevice_st * device, char *name, unsigned int bytes)) \
	X(nvmlDeviceGetUUID, device_uuid, \
		(struct nvmlDevice_st * device, char *uuid, unsigned int bytes)) \
	X(nvmlDeviceGetMemoryInfo, device_memory, \
		(struct nvmlDevice_st * device, struct nvml_memory * memory)) \
	X(nvmlDeviceGetMinorNumber, device_minor, \
		(struct nvmlDevice_st * device, unsigned int *minor)) \
	X(nvmlDeviceGetCudaComputeCapability, device_compute_capability, \
		(struct nvmlDevice_st * device, int *major, int *minor))

/* The calls that detect whether a GPU still works. Events may be missing, as in some containers. */
struct nvmlEventSet_st;
struct nvml_event { /* nvmlEventData_t */
	struct nvmlDevice_st *device;
	unsigned long long kind, number; /* `number` is the Xid of an error */
	unsigned int gpu_instance, compute_instance;
};
enum { NVML_EVENT_XID = 8 }; /* nvmlEventTypeXidCriticalError */

#define NVML_HEALTH_CALLS(X) \
	X(nvmlInit_v2, start, (void)) \
	X(nvmlShutdown, stop, (void)) \
	X(nvmlDeviceGetHandleByUUID, device_by_uuid, \
		(const char *uuid, struct nvmlDevice_st **device)) \
	X(nvmlDeviceGetMemoryInfo, device_memory, \
		(struct nvmlDevice_st * device, struct nvml_memory * memory)) \
	X(nvmlEventSetCreate, event_set_make, (struct nvmlEventSet_st * *set)) \
	X(nvmlEventSetFree, event_set_free, (struct nvmlEventSet_st * set)) \
	X(nvmlDeviceRegisterEvents, event_register, \
		(struct nvmlDevice_st * device, unsigned long long kinds, struct nvmlEventSet_st *set)) \
	X(nvmlEventSetWait_v2, event_wait, \
		(struct nvmlEventSet_st * set, struct nvml_event * event, unsigned int timeout_ms)) \
	X(nvmlDeviceGetClockInfo, clock, \
		(struct nvmlDevice_st * device, unsigned int kind, unsigned int *mhz)) \
	X(nvmlDeviceGetTemperature, temperature, \
		(struct nvmlDevice_st * device, unsigned int sensor, unsigned int *celsius))

/* The values that podium-run reads around a measurement. Each call may be missing in an old driver,
 * or answer that the GPU does not support it. Driver 535 renamed the last call but kept the old
 * name. */
#define NVML_GAUGE_CALLS(X) \
	X(nvmlInit_v2, start, (void)) \
	X(nvmlShutdown, stop, (void)) \
	X(nvmlSystemGetDriverVersion, driver_version, (char *version, unsigned int bytes)) \
	X(nvmlSystemGetCudaDriverVersion_v2, cuda_version, (int *version)) \
	X(nvmlDeviceGetHandleByUUID, device_by_uuid, \
		(const char *uuid, struct nvmlDevice_st **device)) \
	X(nvmlDeviceGetName, device_name, \
		(struct nvmlDevice_st * device, char *name, unsigned int bytes)) \
	X(nvmlDeviceGetClockInfo, clock, \
		(struct nvmlDevice_st * device, unsigned int kind, unsigned int *mhz)) \
	X(nvmlDeviceGetTemperature, temperature, \
		(struct nvmlDevice_st * device, unsigned int sensor, unsigned int *celsius)) \
	X(nvmlDeviceGetPowerUsage, power, (struct nvmlDevice_st * device, unsigned int *milliwatts)) \
	X(nvmlDeviceGetMemoryInfo, device_memory, \
		(struct nvmlDevice_st * device, struct nvml_memory * memory)) \
	X(nvmlDeviceGetCurrentClocksThrottleReasons, slowed, \
		(struct nvmlDevice_st * device, unsigned long long *reasons))

enum { NVML_SM_CLOCK = 1, NVML_MEMORY_CLOCK = 2 }; /* nvmlClockType_t */
enum { NVML_GPU_SENSOR = 0 };                      /* nvmlTemperatureSensors_t */

/* Bits of nvmlClocksThrottleReasons that mean a slower clock. The bits for idle and for clocks that
 * an operator has set are not among them. */
enum {
	NVML_SLOWED_BY_POWER_CAP = 0x4,
	NVML_SLOWED_BY_HARDWARE = 0x8,
	NVML_SLOWED_BY_SYNC_BOOST = 0x10,
	NVML_SLOWED_BY_HEAT = 0x20,
	NVML_SLOWED_BY_HEAT_IN_HARDWARE = 0x40,
	NVML_SLOWED_BY_POWER_BRAKE = 0x80,
};

struct nvml_health {
	void *library;
#define NVML_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	NVML_HEALTH_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
};

struct nvml_gauge {
	void *library;
#define NVML_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	NVML_GAUGE_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
};

/* The values that podium-run reads about its host. The library declares modes as enums, which are
 * unsigned int to the compiler. */
#define NVML_HOST_CALLS(X) \
	X(nvmlInit_v2, start, (void)) \
	X(nvmlShutdown, stop, (void)) \
	X(nvmlSystemGetDriverVersion, driver_version, (char *version, unsigned int bytes)) \
	X(nvmlDeviceGetCount_v2, device_count, (unsigned int *count)) \
	X(nvmlDeviceGetHandleByIndex_v2, device_by_index, \
		(unsigned int index, struct nvmlDevice_st **device)) \
	X(nvmlDeviceGetName, device_name, \
		(struct nvmlDevice_st * device, char *name, unsigned int bytes)) \
	X(nvmlDeviceGetMinorNumber, device_minor, \
		(struct nvmlDevice_st * device, unsigned int *minor)) \
	X(nvmlDeviceGetPersistenceMode, persistence, \
		(struct nvmlDevice_st * device, unsigned int *on)) \
	X(nvmlDeviceGetComputeMode, compute_mode, (struct nvmlDevice_st * device, unsigned int *mode)) \
	X(nvmlDeviceGetComputeRunningProcesses_v3, processes, \
		(struct nvmlDevice_st * device, unsigned int *count, void *list)) \
	X(nvmlDeviceGetClockInfo, clock, \
		(struct nvmlDevice_st * device, unsigned int kind, unsigned int *mhz)) \
	X(nvmlDeviceGetMaxClockInfo, most_clock, \
		(struct nvmlDevice_st * device, unsigned int kind, unsigned int *mhz)) \
	X(nvmlDeviceGetCurrentClocksThrottleReasons, slowed, \
		(struct nvmlDevice_st * device, unsigned long long *reasons))

enum {
	NVML_CALL_WANTS_ROOM = 7,      /* NVML_ERROR_INSUFFICIENT_SIZE */
	NVML_CALL_MIXED_VERSIONS = 18, /* NVML_ERROR_LIB_RM_VERSION_MISMATCH */
};
enum { NVML_COMPUTE_DEFAULT = 0, NVML_COMPUTE_PROHIBITED = 2 }; /* nvmlComputeMode_t */

struct nvml_host {
	void *library;
#define NVML_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	NVML_HOST_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
};

struct nvml {
	void *library;
#define NVML_MEMBER(name, member, parameters) unsigned int(*member) parameters;
	NVML_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
};

#endif
