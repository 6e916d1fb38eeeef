// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/session/conversation.h"

#include <fmt/format.h>

#include <cctype>

namespace opgauge {
namespace {

// Frameworks and vendor libraries print one UUID with and without a prefix, dashes and capitals.
std::string uuid_core(const std::string& uuid) {
    std::string text = lower(uuid);
    for (const std::string_view prefix : {"mig-", "gpu-"}) {
        if (text.starts_with(prefix)) text.erase(0, prefix.size());
    }
    std::string core;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) core.push_back(c);
    }
    return core;
}

// "00000000:19:00.0" and "0000:19:00.0" are one address.
std::string pci_core(const std::string& pci_id) {
    const std::string text = lower(pci_id);
    const auto first = text.find_first_not_of("0:");
    return first == std::string::npos ? std::string("0") : text.substr(first);
}

std::optional<std::string> differing(const Json& planned, const Json& seen, const char* member,
                                     std::string (*normalise)(const std::string&), bool& compared) {
    const auto a = get_optional<std::string>(planned, member);
    const auto b = get_optional<std::string>(seen, member);
    if (!a || !b || a->empty() || b->empty()) return std::nullopt;
    compared = true;
    if (normalise(*a) == normalise(*b)) return std::nullopt;
    return fmt::format("planned device has {} {}, the child sees {}", member, printable(*a),
                       printable(*b));
}

std::string plain_name(const std::string& name) {
    std::string text = lower(name);
    if (text.starts_with("nvidia ")) text.erase(0, 7);
    return text;
}

}  // namespace

std::optional<std::string> device_mismatch(const std::string& backend, const Json& planned,
                                           const Json& seen) {
    const std::string problem = get_string(seen, "problem");
    const auto count = get_optional<int>(seen, "count");
    const std::string seen_backend = get_string(seen, "backend");
    if (seen_backend != backend) {
        return fmt::format("planned backend is {}, the child's framework drives '{}'{}", backend,
                           printable(seen_backend),
                           problem.empty() ? "" : " (" + printable(problem) + ")");
    }
    if (!count || *count != 1) {
        return fmt::format("the child sees {} devices, planned is exactly 1{}",
                           count ? std::to_string(*count) : "an unknown number of",
                           problem.empty() ? "" : " (" + printable(problem) + ")");
    }
    bool compared = false;
    for (const auto& [member, normalise] :
         {std::pair{"uuid", &uuid_core}, {"pci_id", &pci_core}, {"name", &plain_name}}) {
        // The first fact that both sides know decides: a UUID says more than a name.
        const auto difference = differing(planned, seen, member, normalise, compared);
        if (difference || compared) return difference;
    }
    return fmt::format("the child's device could not be identified{}",
                       problem.empty() ? "" : ": " + printable(problem));
}

}  // namespace opgauge
