/* SPDX-License-Identifier: Apache-2.0 */
/* Fits a device model to raw timings again, where there is no CUDA to build gmcalibrate with. */
#include <stdio.h>

#include "kernels/model_commands.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: refit RAW MODEL\n", stderr);
        return 2;
    }
    return gmt_model_fit(argv[1], argv[2]);
}
