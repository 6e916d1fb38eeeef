# SPDX-License-Identifier: Apache-2.0
# opgauge_embed_text(TARGET NAME FILE): makes `extern const std::string_view NAME` hold the file's text.
function(opgauge_embed_text target name file)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DINPUT=${file} -DOUTPUT=${output}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed_text_script.cmake
        DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_text_script.cmake
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
