# SPDX-License-Identifier: Apache-2.0
# Writes the linker's version script from the hook table: -DTABLE=hooks.def -DOUTPUT=exports.map.
file(STRINGS "${TABLE}" rows REGEX "^GMT_HOOK\\(")
set(names "    dlsym;\n    InitializeInjectionNvtx2;\n")
foreach(row IN LISTS rows)
    string(REGEX REPLACE "^GMT_HOOK\\(([A-Za-z0-9_]+),.*" "\\1" name "${row}")
    string(APPEND names "    ${name};\n")
endforeach()
file(WRITE "${OUTPUT}" "{\nglobal:\n${names}local:\n    *;\n};\n")
