#include "sql/migrations.h"

#include "lib/base/embed.h"
#include "lib/base/scope.h"

/* The build lists sql/[0-9]*.sql in order as MIGRATION(NAME) lines. Paths are relative to the
 * source root, where compilers run. */
#define MIGRATION(name) EMBED(migration_##name, "sql/" #name ".sql");
#include "sql/migrations.list"
#undef MIGRATION

const struct migration migrations[] = {
#define MIGRATION(name) { #name, embedded_migration_##name, embedded_migration_##name##_end },
#include "sql/migrations.list"
#undef MIGRATION
};
const size_t migration_count = COUNT(migrations);
