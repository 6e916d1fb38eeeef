# SPDX-License-Identifier: Apache-2.0
# opgauge_embed_text(TARGET NAME FILE...): makes `extern const std::string_view NAME` hold the files' text,
# one after the other.
function(opgauge_embed_text target name)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
    string(REPLACE ";" "|" input "${ARGN}")
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DINPUT=${input}" -DOUTPUT=${output}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed_text_script.cmake
        DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_text_script.cmake
        VERBATIM)
    # A library in one string is longer than a compiler must take; ours take it.
    set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
    target_sources(${target} PRIVATE ${output})
endfunction()
