/* Writes everything that Podium stores about a user as one JSON object. The object is written in
 * pieces, so memory use does not grow with its size. */
#ifndef PODIUM_CGI_PAGE_ACCOUNT_EXPORT_H
#define PODIUM_CGI_PAGE_ACCOUNT_EXPORT_H

#include "cgi/http/request.h"

/* Answers with a file that holds the viewer's data. If the database fails midway, the answer breaks
 * off. The file is then no valid JSON, so its readers notice that it is incomplete. */
int export_begin(struct request *request);

#endif
