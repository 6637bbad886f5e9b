/* Which engine runs a task. The task's files decide, and an author's dry run may change the engine
 * for a GPU model (task_engine_tried). The decision is stored with the version (task_engines), so
 * no participant's submission can change it.
 *
 * The engine `sealed` counts the work of the GPU: a launcher replays what the submission launched.
 * The engine `isolated` counts the call with its CPU code. Neither runs the task's harness. Podium
 * therefore chooses them only in three cases: the harness is the stock one, the harness is known to
 * measure single calls too, or the task's author asks for the engine. */
#ifndef PODIUM_LIB_TASK_ENGINE_H
#define PODIUM_LIB_TASK_ENGINE_H

#include "lib/base/arena.h"
#include "lib/files/fileset.h"
#include "lib/task/task.h"

/* Chooses the engine for GPUs. `files` has the task's files under their names for the runner,
 * without the submission. */
struct engine_choice engine_choose(
	struct arena *arena, const struct task *task, const struct fileset *files);

/* As engine_choose, but for a version that was stored before Podium had the sealed engine. Such a
 * version keeps its engine, because its ranking has the times of that engine. */
struct engine_choice engine_choose_unsealed(
	struct arena *arena, const struct task *task, const struct fileset *files);

/* The engine for a device model, given the engine for GPUs. The CPU cannot replay a plan, so
 * `sealed` becomes `isolated` there; the reason of `sealed` says so. */
struct engine_choice engine_on(struct engine_choice choice, const char *model);

/* Returns why the isolated engine cannot run the task, in one sentence. NULL: the task's files show
 * no obstacle. */
const char *engine_obstacle(const struct task *task, const struct fileset *files);

/* engine_obstacle for the sealed engine. */
const char *engine_sealed_obstacle(const struct task *task, const struct fileset *files);

/* How a task in CUDA C++ compiles its submission. The main source tells: eval.cu, wrapped_kernel.cu
 * or single_main.cu. The isolated engine supports no other form. */
enum engine_form { ENGINE_FORM_EVAL, ENGINE_FORM_WRAPPED, ENGINE_FORM_SINGLE, ENGINE_FORM_OTHER };
enum engine_form engine_form(const struct task *task);

#endif
