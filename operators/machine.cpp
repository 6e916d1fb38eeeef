// SPDX-License-Identifier: Apache-2.0
#include "operators/machine.h"

#include "opgauge/base/cpu_model.h"

#include <dnnl.hpp>
#include <fmt/format.h>

#include <cblas.h>
#include <omp.h>

namespace opgauge::operators {
Json machine_report(const Pinned& pinned) {
    const dnnl_version_t* version = dnnl_version();
    return {
        {"backend", "cpu"},
        {"count", pinned.problem ? Json(nullptr) : Json(pinned.nodes)},
        {"name", cpu_model().value_or("CPU")},
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
