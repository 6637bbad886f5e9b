/* Private to worker/run/engine: the files of the isolated and the sealed engine (harness/isolated,
 * harness/sealed), which are compiled into podium-run. The programs of a Python task run them. */
#ifndef PODIUM_WORKER_RUN_ENGINE_FILES_H
#define PODIUM_WORKER_RUN_ENGINE_FILES_H

#include "lib/base/error.h"

enum engine_role {
	ROLE_JUDGE,
	ROLE_CONTESTANT,
	ROLE_SEALED_JUDGE,
	ROLE_BUILDER,
	ROLE_RECORDER, /* only the builder's libraries: in CUDA C++, nvcc compiles the builder */
	ROLE_LAUNCHER
};

/* Writes the files that a program in this role needs, read-only, into the folder engine/ of
 * `stage`. */
int engine_files_write(int stage, enum engine_role role, struct error *error);

#endif
