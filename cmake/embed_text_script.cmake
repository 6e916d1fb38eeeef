# SPDX-License-Identifier: Apache-2.0
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include <string_view>\nextern const std::string_view ${NAME};\nconst std::string_view ${NAME} = R\"opgauge_text(${text})opgauge_text\";\n")
