// SPDX-License-Identifier: Apache-2.0
#include "operators/machine.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <dnnl.hpp>
#include <fmt/format.h>

#include <cblas.h>
#include <omp.h>

namespace opgauge::operators {
namespace {

std::string cpu_model() {
    const auto text = read_file("/proc/cpuinfo");
    if (!text) return "CPU";
    for (const auto line : lines_of(*text)) {
        const auto colon = line.find(':');
        if (line.starts_with("model name") && colon != std::string_view::npos) {
            return std::string(trim(line.substr(colon + 1)));
        }
    }
    return "CPU";
}

}  // namespace

Json machine_report(const Pinned& pinned) {
    const dnnl_version_t* version = dnnl_version();
    return {
        {"backend", "cpu"},
        {"count", pinned.problem ? Json(nullptr) : Json(pinned.nodes)},
        {"name", cpu_model()},
        {"uuid", nullptr},
        {"pci_id", nullptr},
        {"vendor", nullptr},
        {"runtime", nullptr},
        {"problem", optional_json(pinned.problem)},
        {"corpus",
         {{"onednn", fmt::format("{}.{}.{}", version->major, version->minor, version->patch)},
          {"openblas", openblas_get_config()}}},
        {"threads", {{"openblas", openblas_get_num_threads()}, {"onednn", omp_get_max_threads()}}}};
}

void settle_threads() {
    openblas_set_num_threads(omp_get_max_threads());
}

}  // namespace opgauge::operators
