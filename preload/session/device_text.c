/* SPDX-License-Identifier: Apache-2.0 */
/* What names a device in traces and models: its UUID and the driver's version as text. */
#include "preload/session/device_text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void gmt_device_format_uuid(const CUuuid *uuid, char text[static 48])
{
    size_t used = (size_t)snprintf(text, 48, "GPU");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        used += (size_t)snprintf(text + used, 48 - used, "%s%02x", dash ? "-" : "",
                                 (unsigned char)uuid->bytes[i]);
    }
}

void gmt_device_driver_version(char text[static 32])
{
    char file[512];
    text[0] = '\0';
    int fd = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, file, sizeof(file) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    if (got <= 0) {
        return;
    }
    file[got] = '\0';
    /* "... Kernel Module  580.159.04  ...": the first word of digits and dots. */
    char *rest;
    for (char *word = strtok_r(file, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if (isdigit((unsigned char)word[0]) && strchr(word, '.') != NULL &&
            strspn(word, "0123456789.") == strlen(word)) {
            (void)snprintf(text, 32, "%s", word);
            return;
        }
    }
}
