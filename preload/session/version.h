/* SPDX-License-Identifier: Apache-2.0 */
/* The tool's version, set by CMake from the project's. */
#ifndef GMT_PRELOAD_SESSION_VERSION_H
#define GMT_PRELOAD_SESSION_VERSION_H

#ifndef GMT_VERSION
#error "GMT_VERSION is defined by the build"
#endif

#endif
