// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/device/runtime_api.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <string_view>

namespace opgauge {

// For the vendors' files behind RuntimeApi: a symbol is required or optional, its type is that of
// the pointer it fills.
template <typename F>
void require(SymbolTable& table, F*& function, const char* name) {
    function = table.required<F>(name);
}
template <typename F>
void take(const SymbolTable& table, F*& function, const char* name) {
    function = table.optional<F>(name);
}

// The error of a call made while a runtime is opened.
inline Result<void> check_opening(const RuntimeApi& api, int code, std::string_view what) {
    if (code == kRuntimeSuccess) return {};
    return fail(ErrorKind::environment,
                fmt::format("{} refuses {}: {}", api.library, what, api.error_text(code)));
}

}  // namespace opgauge
