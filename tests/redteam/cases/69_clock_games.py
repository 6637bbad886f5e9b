# 69 clock_games
# attempts: to change the GPU's clocks, power limit, modes and error counters through NVML
# required: DENIED
# engines: isolated
# on: gpu
import ctypes
from attack import attempt, custom_kernel

nvml = ctypes.CDLL("libnvidia-ml.so.1")
device = ctypes.c_void_p()
nvml.nvmlInit_v2()
nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
GAMES = (("nvmlDeviceSetGpuLockedClocks", 300, 300), ("nvmlDeviceResetGpuLockedClocks",), ("nvmlDeviceSetMemoryLockedClocks", 300, 300),
         ("nvmlDeviceSetApplicationsClocks", 300, 300), ("nvmlDeviceSetPowerManagementLimit", 200000), ("nvmlDeviceSetComputeMode", 3),
         ("nvmlDeviceSetPersistenceMode", 0), ("nvmlDeviceSetAccountingMode", 1), ("nvmlDeviceSetEccMode", 0), ("nvmlDeviceClearEccErrorCounts", 0),
         ("nvmlDeviceSetMigMode", 0, ctypes.byref(ctypes.c_int())))
for name, *values in GAMES:
    attempt(name, lambda: hasattr(nvml, name) and getattr(nvml, name)(device, *values) == 0)
