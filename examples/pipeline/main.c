/* SPDX-License-Identifier: Apache-2.0 */
/* The executables' entry: the pipeline itself is also built as a library without this file. */

#include "pipeline_common.h"

int main(int argc, char **argv)
{
    return pipeline_main(argc, argv);
}
