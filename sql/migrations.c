#include "sql/migrations.h"

#include "lib/embed.h"
#include "lib/scope.h"

/* The build lists sql/[0-9]*.sql in order as MIGRATION(NAME) lines; programs are built from the
 * root. */
#define MIGRATION(name) EMBED(migration_##name, "sql/" #name ".sql");
#include "sql/migrations.list"
#undef MIGRATION

const struct migration migrations[] = {
#define MIGRATION(name) { #name, embedded_migration_##name, embedded_migration_##name##_end },
#include "sql/migrations.list"
#undef MIGRATION
};
const size_t migration_count = COUNT(migrations);
