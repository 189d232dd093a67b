/* SPDX-License-Identifier: Apache-2.0 */
/* The driver and its devices: there, whole or in MIG instances, calibrated, and countable. */
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/launcher.h"
#include "libtrace/cupti/base/locate.h"
#include "libtrace/store/db/model_cache.h"
#include "preload/session/device_text.h"

void *gmt_doctor_symbol(void *library, const char *name)
{
    return library != NULL ? dlsym(library, name) : NULL;
}

struct driver {
    CUresult (*init)(unsigned);
    CUresult (*version)(int *);
    CUresult (*count)(int *);
    CUresult (*name)(char *, int, CUdevice);
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*uuid)(CUuuid *, CUdevice);
};

/* The device_model.match of the model that the recorder would put into a trace; "": none. */
static void find_model(const char *uuid, const char *name, char match[static 32])
{
    static const char schema[] = "CREATE TABLE device (uuid, name, driver_version);"
                                 "CREATE TABLE device_model (uuid PRIMARY KEY, match, json)";
    char version[32];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    match[0] = '\0';
    gmt_device_driver_version(version);
    if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
        sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO device VALUES (?, ?, ?)", -1, &statement, NULL) ==
            SQLITE_OK) {
        sqlite3_bind_text(statement, 1, uuid, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, version, -1, SQLITE_STATIC);
        (void)sqlite3_step(statement);
        sqlite3_finalize(statement);
        statement = NULL;
        if (gmt_model_cache_copy(db) == 0 &&
            sqlite3_prepare_v2(db, "SELECT match FROM device_model", -1, &statement, NULL) ==
                SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW) {
            /* One of the words that gmt_model_cache_copy has just written there. */
            (void)snprintf(match, 32, "%s", (const char *)sqlite3_column_text(statement, 0));
        }
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void check_calibration(int device, const char *uuid, const char *name)
{
    char match[32];
    if (strstr(name, "software device") != NULL) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "calibration", NULL, "%d: none, for it has no times",
                       device);
        return;
    }
    find_model(uuid, name, match);
    if (strcmp(match, "this board") == 0) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "calibration", NULL, "%d: this device is calibrated",
                       device);
    } else if (match[0] != '\0') {
        gmt_doctor_say(
            GMT_DOCTOR_LIMITED, "calibration", "run gmtrace calibrate",
            "%d: another device of this name is calibrated; this one, with this driver, is not",
            device);
    } else {
        gmt_doctor_say(
            GMT_DOCTOR_LIMITED, "calibration", "run gmtrace calibrate",
            "%d: not calibrated: savings are priced with the calibration of another device",
            device);
    }
}

static void check_device(const struct driver *driver, int device)
{
    char name[128] = "?", uuid_text[48] = "";
    int major = 0, minor = 0;
    CUuuid uuid;
    (void)driver->name(name, sizeof(name), device);
    (void)driver->attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    (void)driver->attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    gmt_doctor_say(GMT_DOCTOR_GOOD, "device", NULL, "%d: %s, compute capability %d.%d", device,
                   name, major, minor);
    if (driver->uuid != NULL && driver->uuid(&uuid, device) == CUDA_SUCCESS) {
        gmt_device_format_uuid(&uuid, uuid_text);
        check_calibration(device, uuid_text, name);
    }
}

/* name: of its library, or the path of it. */
static void check_driver(const char *name)
{
    struct driver driver;
    void *library = dlopen(name, RTLD_NOW);
    if (library == NULL) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "driver",
                       "install the NVIDIA driver, or run where there is one; gmtrace --device sim "
                       "needs none",
                       "libcuda.so.1 cannot be loaded (%s)", dlerror());
        return;
    }
    *(void **)&driver.init = gmt_doctor_symbol(library, "cuInit");
    *(void **)&driver.version = gmt_doctor_symbol(library, "cuDriverGetVersion");
    *(void **)&driver.count = gmt_doctor_symbol(library, "cuDeviceGetCount");
    *(void **)&driver.name = gmt_doctor_symbol(library, "cuDeviceGetName");
    *(void **)&driver.attribute = gmt_doctor_symbol(library, "cuDeviceGetAttribute");
    *(void **)&driver.uuid = gmt_doctor_symbol(library, "cuDeviceGetUuid_v2");
    if (driver.init == NULL || driver.version == NULL || driver.count == NULL ||
        driver.name == NULL || driver.attribute == NULL) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "driver", "look for another one in LD_LIBRARY_PATH",
                       "libcuda.so.1 is no CUDA driver library");
        return;
    }
    int number = 0, devices = 0;
    CUresult result = driver.init(0);
    if (result != CUDA_SUCCESS || driver.version(&number) != CUDA_SUCCESS ||
        driver.count(&devices) != CUDA_SUCCESS) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "driver",
                       "run nvidia-smi, and check that /dev/nvidia* can be opened here",
                       "cuInit returned %d: the driver is installed but finds no usable GPU",
                       (int)result);
        return;
    }
    gmt_doctor_say(devices > 0 ? GMT_DOCTOR_GOOD : GMT_DOCTOR_BAD, "driver",
                   devices > 0 ? NULL : "check whether CUDA_VISIBLE_DEVICES hides them",
                   "supports CUDA %d.%d, %d device%s", number / 1000, number % 1000 / 10, devices,
                   devices == 1 ? "" : "s");
    for (int device = 0; device < devices; device++) {
        check_device(&driver, device);
    }
}

/* NVML says whether GPUs are partitioned into MIG instances; its header is no part of every toolkit. */
static void check_mig(void)
{
    int (*init)(void), (*shut_down)(void), (*count)(unsigned *), (*handle)(unsigned, void **);
    int (*mode)(void *, unsigned *, unsigned *);
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    *(void **)&init = gmt_doctor_symbol(library, "nvmlInit_v2");
    *(void **)&shut_down = gmt_doctor_symbol(library, "nvmlShutdown");
    *(void **)&count = gmt_doctor_symbol(library, "nvmlDeviceGetCount_v2");
    *(void **)&handle = gmt_doctor_symbol(library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&mode = gmt_doctor_symbol(library, "nvmlDeviceGetMigMode");
    if (init == NULL || shut_down == NULL || count == NULL || handle == NULL || mode == NULL ||
        init() != 0) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "mig", NULL,
                       "not known (no NVML); the name of a device shows whether it is an instance");
        return;
    }
    unsigned devices = 0, cut = 0;
    (void)count(&devices);
    for (unsigned i = 0; i < devices; i++) {
        void *device = NULL;
        unsigned current = 0, pending = 0;
        /* GPUs without MIG answer "not supported". */
        cut += handle(i, &device) == 0 && mode(device, &current, &pending) == 0 && current != 0;
    }
    (void)shut_down();
    if (cut == 0) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "mig", NULL, "off: whole devices");
    } else {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "mig",
                       "record on a whole device (nvidia-smi -i N -mig 0) where counters matter",
                       "on for %u of %u devices: an instance's counters may be refused, and its "
                       "calibration holds for that instance only",
                       cut, devices);
    }
}

void gmt_doctor_gpu(void)
{
    check_driver("libcuda.so.1");
    check_mig();
}

void gmt_doctor_software_device(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    if (gmt_launcher_software_device(folder, sizeof(folder)) != 0) {
        gmt_doctor_say(GMT_DOCTOR_BAD, "driver", "install again",
                       "the software device is not installed");
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
    check_driver(path);
}

static void check_permission(void)
{
    FILE *file = fopen("/proc/driver/nvidia/params", "re");
    char line[256];
    bool admin_only = false, known = false;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "RmProfilingAdminOnly:", 21) == 0) {
            known = true;
            admin_only = strtol(line + 21, NULL, 10) != 0;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!known) {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "counters", "record a program: the trace shows it",
                       "not known whether this user may read hardware counters (no "
                       "/proc/driver/nvidia/params)");
    } else if (admin_only && geteuid() != 0) {
        gmt_doctor_say(
            GMT_DOCTOR_LIMITED, "counters",
            "set the module option NVreg_RestrictProfilingToAdminUsers=0, or run as root",
            "reading them is reserved for root");
    } else {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "counters", NULL, "this user may read them");
    }
}

void gmt_doctor_counters(void)
{
    char path[PATH_MAX] = "";
    uint32_t version = 0;
    int error = gmt_cupti_locate(getenv("GMTRACE_CUPTI"), path, sizeof(path), &version);
    if (error == 0) {
        gmt_doctor_say(GMT_DOCTOR_GOOD, "cupti", NULL, "version %u, %s", version, path);
    } else if (error == -ENOTSUP) {
        gmt_doctor_say(
            GMT_DOCTOR_LIMITED, "cupti", "set GMTRACE_CUPTI to a newer one",
            "version %u, %s, is older than that of CUDA 11.8: no device timestamps and no "
            "counters",
            version, path);
    } else {
        gmt_doctor_say(GMT_DOCTOR_LIMITED, "cupti",
                       "install the CUDA toolkit's CUPTI, or set GMTRACE_CUPTI to its path",
                       "libcupti.so is not found: no device timestamps and no counters");
    }
    check_permission();
}
