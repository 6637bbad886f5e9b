/* Everything that is stored about a user, as one JSON object, written piece by piece so that it
 * needs little memory however much it is. */
#ifndef PODIUM_CGI_EXPORT_H
#define PODIUM_CGI_EXPORT_H

#include "cgi/request.h"

/* Makes the answer a file with the data of the viewer. If the database goes away in the middle, the
 * file ends there and is no JSON, so that nobody takes it for the whole. */
int export_begin(struct request *request);

#endif
