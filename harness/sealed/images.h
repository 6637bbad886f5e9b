/* Notes the image of each module that this process loads in a record, and that the process makes
 * textures or surfaces. NVIDIA's CUPTI reports both. The process is the submission's. */
#ifndef PODIUM_SEALED_IMAGES_H
#define PODIUM_SEALED_IMAGES_H

#include "record.h"

/* Begins to listen, and opens the GPU. Earlier modules stay unknown, so call it before the
 * submission's code runs. `folders`: as for sealed_cupti_open (cupti.h). Returns 0, or
 * ISOLATED_FAILED with a sentence from isolated_why(). */
int sealed_images_open(struct sealed_record *record, const char *folders);

/* Stops listening. No other thread may be in a call of CUDA. The record may be freed afterwards. */
void sealed_images_close(void);

#endif
