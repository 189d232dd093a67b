/* SPDX-License-Identifier: Apache-2.0 */
/* Names of GPUs: made of the words and numbers that names of products are made of, and of nothing else. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/redact/public_names.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What names begin with. */
static const char *const makers[] = {"NVIDIA", "Tesla", "GeForce", "Quadro", "GRID",
                                     "TITAN",  "Orin",  "Thor",    "Xavier", "Jetson"};

static const char *const words[] = {
    "AGX",        "Active",   "Ada",     "Black",       "Blackwell", "CMP",    "D",      "DGX",
    "Design",     "Device",   "Display", "Edition",     "GB",        "GPU",    "GT",     "GTX",
    "Generation", "Graphics", "IGX",     "Laptop",      "MIG",       "Max",    "Mobile", "NVL",
    "NX",         "Nano",     "PCIE",    "PCIe",        "PRO",       "Pascal", "Q",      "RTX",
    "SUPER",      "SXM",      "Server",  "Spark",       "Station",   "Super",  "Tegra",  "Ti",
    "V",          "Volta",    "with",    "Workstation", "X",         "Xp",     "Z",
};

/* Of "H200", "RTX6000", "V100D", "480GB", "HBM3e", "SXM5", "1g.10gb", "16Q": before and behind the digits. */
static const char *const prefixes[] = {"",   "A",  "B",   "C",   "G",   "GA",  "GB", "GH", "GK",
                                       "GM", "GP", "GTX", "GV",  "H",   "HBM", "K",  "L",  "M",
                                       "MX", "P",  "PG",  "RTX", "SXM", "T",   "TU", "V",  "X"};
static const char *const suffixes[] = {"",   "A", "B", "C",  "D", "G", "GB", "HX", "M",
                                       "MB", "Q", "S", "Ti", "X", "c", "e",  "g",  "gb"};

static bool is_one_of(const char *text, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == length && strncmp(list[i], text, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_model(const char *text, size_t length)
{
    size_t before = 0, behind = 0;

    while (before < length && !isdigit((unsigned char)text[before])) {
        before++;
    }
    while (before + behind < length && !isdigit((unsigned char)text[length - 1 - behind])) {
        behind++;
    }
    size_t digits = length - before - behind;
    for (size_t i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)text[before + i])) {
            return false;
        }
    }
    return digits > 0 && digits <= 4 && is_one_of(text, before, prefixes, COUNT(prefixes)) &&
           is_one_of(text + length - behind, behind, suffixes, COUNT(suffixes));
}

char *gmt_public_device(const char *text)
{
    static const char separators[] = " -./()";

    if (strcmp(text, "gmtrace software device") == 0) {
        return strdup(text);
    }
    if (strlen(text) >= 64 || !is_one_of(text, strcspn(text, separators), makers, COUNT(makers))) {
        return NULL;
    }
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, separators);

        if (length > 0 && !is_one_of(at, length, makers, COUNT(makers)) &&
            !is_one_of(at, length, words, COUNT(words)) && !is_model(at, length)) {
            return NULL;
        }
        at += length;
        at += strspn(at, separators);
    }
    return strdup(text);
}
