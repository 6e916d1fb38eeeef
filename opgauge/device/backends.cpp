// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/backends.h"

#include "opgauge/base/text.h"
#include "opgauge/device/discovery.h"
#include "opgauge/device/vendors.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

std::vector<std::string> known_names() {
    std::vector<std::string> names;
    for (const Backend* backend : all_backends()) {
        if (backend->hidden()) continue;
        names.emplace_back(backend->name());
        for (const auto alias : backend->aliases()) names.emplace_back(alias);
    }
    return names;
}

BackendChoice chosen(const Backend& backend, Discovery discovery, std::string why) {
    return {&backend, std::move(discovery), std::move(why)};
}

// `auto`: the only accelerator with devices; several or none need the caller's word.
Result<BackendChoice> choose_automatically(const Environment& environment,
                                           WithoutAccelerator without) {
    std::vector<std::string> names;
    for (const Backend* backend : all_backends()) {
        if (backend->accelerator() && !backend->hidden()) names.emplace_back(backend->name());
    }
    auto found = discover_all(names, environment);
    std::vector<std::string> reasons;
    std::vector<Discovery*> with_devices;
    for (auto& discovery : found) {
        if (!discovery.devices.empty()) with_devices.push_back(&discovery);
        reasons.push_back(discovery.backend + ": " + join(discovery.reasons, ", "));
    }
    if (with_devices.size() == 1) {
        OPGAUGE_TRY_ASSIGN(const Backend* backend, find_backend(with_devices[0]->backend));
        return chosen(*backend, std::move(*with_devices[0]), "auto: the only backend with devices");
    }
    if (with_devices.size() > 1) {
        std::vector<std::string> several;
        for (const auto* discovery : with_devices) {
            several.push_back(fmt::format("{} ({} x {})", discovery->backend,
                                          discovery->devices.size(),
                                          printable(discovery->devices[0].name, 60)));
        }
        return fail(ErrorKind::usage, "several backends have devices: " + join(several, ", ") +
                                          "; choose one with --backend or ZL_BACKEND");
    }
    if (without == WithoutAccelerator::error) {
        return fail(ErrorKind::environment,
                    "no accelerator found (" + join(reasons, "; ") + "); see `opgauge devices`");
    }
    OPGAUGE_TRY_ASSIGN(const Backend* cpu, find_backend("cpu"));
    return chosen(*cpu, cpu->discover(environment), "auto: no accelerator found");
}

}  // namespace

const std::vector<const Backend*>& all_backends() {
    static const std::vector<const Backend*> kAll = {&cuda_backend(), &musa_backend(),
                                                     &rocm_backend(), &ascend_backend(),
                                                     &cpu_backend(),  &fake_backend()};
    return kAll;
}

Result<const Backend*> find_backend(std::string_view name) {
    const std::string wanted = lower(trim(name));
    for (const Backend* backend : all_backends()) {
        const auto aliases = backend->aliases();
        if (backend->name() == wanted ||
            std::find(aliases.begin(), aliases.end(), wanted) != aliases.end()) {
            return backend;
        }
    }
    std::vector<std::string> names;
    for (const Backend* backend : all_backends()) {
        if (!backend->hidden()) names.emplace_back(backend->name());
    }
    return fail(ErrorKind::usage,
                fmt::format("unknown backend '{}'{}; known: {}, auto", printable(name),
                            suggestion(wanted, known_names()), join(names, ", ")));
}

Result<BackendChoice> choose_backend(std::string_view option, const Environment& environment,
                                     WithoutAccelerator without) {
    std::string name(trim(option));
    std::string why = "--backend " + name;
    if (name.empty()) {
        name = trim(environment.get("ZL_BACKEND").value_or(""));
        why = "ZL_BACKEND=" + name;
    }
    if (name.empty() || lower(name) == "auto") return choose_automatically(environment, without);
    OPGAUGE_TRY_ASSIGN(const Backend* backend, find_backend(name));
    return chosen(*backend, backend->discover(environment), std::move(why));
}

}  // namespace opgauge
