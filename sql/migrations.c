#include "sql/migrations.h"

#include "lib/scope.h"

/* The build lists sql/[0-9]*.sql in order as MIGRATION(NAME) lines; programs are built from the root. */
#define MIGRATION(name) \
	__asm__(".section .rodata\n" \
		"migration_" #name ":\n.incbin \"sql/" #name ".sql\"\n" \
		"migration_end_" #name ":\n.byte 0\n.previous\n"); \
	extern const char migration_##name[], migration_end_##name[];
#include "sql/migrations.list"
#undef MIGRATION

const struct migration migrations[] = {
#define MIGRATION(name) { #name, migration_##name, migration_end_##name },
#include "sql/migrations.list"
#undef MIGRATION
};
const size_t migration_count = COUNT(migrations);
