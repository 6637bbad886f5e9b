/* Handlers of /api/v1/device. The addresses are in api_device_routes.c. */
#ifndef PODIUM_CGI_API_DEVICE_H
#define PODIUM_CGI_API_DEVICE_H

#include "cgi/router.h"

/* api_device.c */
handler api_device_code, api_device_token;

#endif
