# SPDX-License-Identifier: Apache-2.0
# Writes the linker's version script from the hook tables: -DTABLES=hooks.def;... -DOUTPUT=exports.map.
set(names "    dlsym;\n    InitializeInjection;\n    InitializeInjectionNvtx2;\n")
foreach(table IN LISTS TABLES)
    file(STRINGS "${table}" rows REGEX "^GMT_(CUPTI_)?HOOK(_OWN)?\\(")
    foreach(row IN LISTS rows)
        string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1" name "${row}")
        string(APPEND names "    ${name};\n")
    endforeach()
endforeach()
file(WRITE "${OUTPUT}" "{\nglobal:\n${names}local:\n    *;\n};\n")
