// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

// Defined in sources that cmake/embed_text.cmake writes from docs/cli/*.md.
extern const std::string_view help_opgauge;
extern const std::string_view help_devices;
extern const std::string_view help_plan;
extern const std::string_view help_corpus;
extern const std::string_view help_run;
extern const std::string_view help_batch;
extern const std::string_view help_show;
extern const std::string_view help_compare;
extern const std::string_view help_ab;
extern const std::string_view help_report;
extern const std::string_view help_verify;
extern const std::string_view help_history;
extern const std::string_view help_doctor;
extern const std::string_view help_tune;

namespace opgauge::cli {

std::string_view help_page(std::string_view command) {
    const std::array<std::pair<std::string_view, std::string_view>, 14> pages = {{
        {"opgauge", help_opgauge},
        {"devices", help_devices},
        {"plan", help_plan},
        {"corpus", help_corpus},
        {"run", help_run},
        {"batch", help_batch},
        {"show", help_show},
        {"compare", help_compare},
        {"ab", help_ab},
        {"report", help_report},
        {"verify", help_verify},
        {"history", help_history},
        {"doctor", help_doctor},
        {"tune", help_tune},
    }};
    for (const auto& [name, text] : pages) {
        if (name == command) return text;
    }
    throw std::logic_error("no help page for " + std::string(command));
}

}  // namespace opgauge::cli
