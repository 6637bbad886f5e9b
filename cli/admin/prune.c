#include "cli/admin/admin.h"
int prune_command(int argc, char **argv) { (void)argc; (void)argv; return admin_misused; }
