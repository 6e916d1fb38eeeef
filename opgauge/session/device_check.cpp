// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/session/conversation.h"

#include <fmt/format.h>

#include <array>
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

bool same_uuid(const std::string& a, const std::string& b) {
    return uuid_core(a) == uuid_core(b);
}

bool same_pci_id(const std::string& a, const std::string& b) {
    return pci_core(a) == pci_core(b);
}

// Drivers print one model with the vendor's name before it and without; some frameworks add a
// variant behind an underscore.
bool same_name(const std::string& a, const std::string& b) {
    const std::string longer = lower(a.size() < b.size() ? b : a);
    const std::string shorter = lower(a.size() < b.size() ? a : b);
    return longer == shorter || longer.ends_with(" " + shorter) ||
           longer.starts_with(shorter + "_");
}

struct Fact {
    const char* member;
    bool (*same)(const std::string&, const std::string&);
};

// The first fact that both sides know decides: a UUID says more than a name.
constexpr std::array<Fact, 3> kFacts = {
    {{"uuid", same_uuid}, {"pci_id", same_pci_id}, {"name", same_name}}};

std::string in_brackets(const std::string& problem) {
    return problem.empty() ? std::string() : " (" + printable(problem) + ")";
}

}  // namespace

std::optional<std::string> device_mismatch(const std::string& backend, const Json& planned,
                                           const Json& seen) {
    const std::string problem = in_brackets(get_string(seen, "problem"));
    const auto count = get_optional<int>(seen, "count");
    const std::string seen_backend = get_string(seen, "backend");
    if (seen_backend != backend) {
        return fmt::format("planned backend is {}, the child's framework drives '{}'{}", backend,
                           printable(seen_backend), problem);
    }
    if (!count || *count != 1) {
        return fmt::format("the child sees {} devices, planned is exactly 1{}",
                           count ? std::to_string(*count) : "an unknown number of", problem);
    }
    for (const auto& fact : kFacts) {
        const auto a = get_optional<std::string>(planned, fact.member);
        const auto b = get_optional<std::string>(seen, fact.member);
        if (!a || !b || a->empty() || b->empty()) continue;
        if (fact.same(*a, *b)) return std::nullopt;
        return fmt::format("planned device has {} {}, the child sees {}", fact.member,
                           printable(*a), printable(*b));
    }
    return "the child's device could not be identified" + problem;
}

}  // namespace opgauge
