/* Handlers of /api/v1/device. The addresses are in cgi/api/device_authorization_routes.c. */
#ifndef PODIUM_CGI_API_DEVICE_AUTHORIZATION_H
#define PODIUM_CGI_API_DEVICE_AUTHORIZATION_H

#include "cgi/http/route.h"

handler api_device_code, api_device_token;

#endif
