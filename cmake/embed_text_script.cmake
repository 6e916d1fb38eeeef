# SPDX-License-Identifier: Apache-2.0
string(REPLACE "|" ";" files "${INPUT}")
file(WRITE ${OUTPUT} "#include <string_view>\nextern const std::string_view ${NAME};\nconst std::string_view ${NAME} = R\"opgauge_text(")
foreach(file IN LISTS files)
    file(READ ${file} text)
    file(APPEND ${OUTPUT} "${text}")
endforeach()
file(APPEND ${OUTPUT} ")opgauge_text\";\n")
