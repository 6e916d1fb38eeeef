// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/quarantine.h"

#include "opgauge/base/json.h"
#include "opgauge/base/text.h"
#include "opgauge/plan/cache.h"
#include "opgauge/session/lost_case.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

constexpr const char* kFolder = "quarantine";
constexpr const char* kExtension = ".jsonl";
constexpr std::size_t kDateLength = 10;  // of "2026-12-03T14:05:09Z"

std::optional<QuarantinedCase> case_from(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    QuarantinedCase one{get_string(json, "case_id"), get_string(json, "operator"),
                        get_string(json, "dtype"),   get_string(json, "shapes"),
                        get_string(json, "kind"),    get_string(json, "message"),
                        get_string(json, "date")};
    if (one.case_id.empty()) return std::nullopt;
    return one;
}

// Memory comes back; a case that ran out of it may run tomorrow.
bool costs_a_child(const LostCase& lost) {
    return lost.kind != LostKind::kOom;
}

}  // namespace

Result<Quarantine> Quarantine::open(const std::filesystem::path& file, Use use) {
    Quarantine quarantine;
    quarantine.use_ = use;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    bool torn = false;
    if (std::filesystem::exists(file, error)) {
        OPGAUGE_TRY_ASSIGN(const std::string text, read_file(file));
        quarantine.read(text);
        torn = !text.empty() && text.back() != '\n';
    }
    OPGAUGE_TRY_ASSIGN(quarantine.file_, LineAppender::open(file));
    if (torn) quarantine.append("");  // or the next line would be lost with the torn one
    return quarantine;
}

void Quarantine::read(const std::string& text) {
    for (const auto& line : lines_of(text)) {
        auto one = case_from(line);
        if (!one) continue;
        if (one->kind.empty()) {
            cases_.erase(one->case_id);
        } else {
            std::string id = one->case_id;
            cases_.insert_or_assign(std::move(id), std::move(*one));
        }
    }
}

std::optional<std::string> Quarantine::reason_to_skip(const std::string& case_id) const {
    const auto found = cases_.find(case_id);
    if (use_ != Use::skip || found == cases_.end()) return std::nullopt;
    return fmt::format("quarantined: {} on {} (opgauge batch --quarantine lists)",
                       lost_words(found->second.kind), found->second.date);
}

void Quarantine::take(const Row& row, const Clock& clock) {
    if (!file_) return;
    if (row.status == RowStatus::ok && cases_.erase(row.case_id) > 0) {
        append(to_line({{"case_id", row.case_id}, {"kind", ""}}));
    }
    const auto lost = lost_case(row);
    if (!lost || !costs_a_child(*lost)) return;
    QuarantinedCase one{row.case_id,
                        row.work.operator_name,
                        row.work.dtype,
                        shapes_text(row.work),
                        lost->kind,
                        row.reason,
                        utc_text(clock.wall_time()).substr(0, kDateLength)};
    append(to_line({{"case_id", one.case_id},
                    {"operator", one.operator_name},
                    {"dtype", one.dtype},
                    {"shapes", one.shapes},
                    {"kind", one.kind},
                    {"message", one.message},
                    {"date", one.date}}));
    cases_.insert_or_assign(row.case_id, std::move(one));
}

std::vector<QuarantinedCase> Quarantine::cases() const {
    std::vector<QuarantinedCase> list;
    for (const auto& [id, one] : cases_) list.push_back(one);
    return list;
}

// What cannot be written costs a child in the next run, never this one.
void Quarantine::append(const std::string& line) {
    if (file_) static_cast<void>(file_->append(line));
}

Quarantine open_quarantine(const Environment& environment, const std::string& setup_id,
                           Quarantine::Use use) {
    if (use == Quarantine::Use::none) return {};
    auto opened =
        Quarantine::open(cache_folder(environment) / kFolder / (setup_id + kExtension), use);
    return opened ? std::move(*opened) : Quarantine{};
}

Result<std::map<std::string, std::vector<QuarantinedCase>>> list_quarantine(
    const Environment& environment) {
    std::map<std::string, std::vector<QuarantinedCase>> setups;
    std::error_code error;
    const auto folder = cache_folder(environment) / kFolder;
    if (!std::filesystem::exists(folder, error)) return setups;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (entry.path().extension() != kExtension) continue;
        OPGAUGE_TRY_ASSIGN(const auto one, Quarantine::open(entry.path(), Quarantine::Use::note));
        auto cases = one.cases();
        if (!cases.empty()) setups[entry.path().stem().string()] = std::move(cases);
    }
    return setups;
}

}  // namespace opgauge
