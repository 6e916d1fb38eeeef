// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/capture_memory.h"

#include "opgauge/base/json.h"
#include "opgauge/base/text.h"

#include <string_view>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

std::optional<CaptureFailure> failure_from(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    CaptureFailure failure;
    failure.case_id = get_string(json, "case_id");
    failure.side = get_string(json, "side");
    failure.kind = get_string(json, "kind");
    failure.message = get_string(json, "message");
    failure.assumed = get_optional<bool>(json, "assumed").value_or(false);
    if (failure.case_id.empty()) return std::nullopt;
    return failure;
}

}  // namespace

Result<CaptureMemory> CaptureMemory::open(const std::filesystem::path& file, Known known) {
    CaptureMemory memory;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    bool torn = false;
    if (std::filesystem::exists(file, error)) {
        OPGAUGE_TRY_ASSIGN(const std::string text, read_file(file));
        memory.take(text);
        torn = !text.empty() && text.back() != '\n';
    }
    if (known == Known::forget) memory.forgotten_ = std::exchange(memory.failures_, {});
    OPGAUGE_TRY_ASSIGN(memory.file_, LineAppender::open(file));
    if (torn) memory.append("");  // or the next line would be lost with the torn one
    return memory;
}

void CaptureMemory::take(const std::string& text) {
    for (const auto& line : lines_of(text)) {
        const auto failure = failure_from(line);
        if (!failure) continue;
        if (failure->kind.empty()) {
            failures_.erase(failure->case_id);
        } else {
            failures_[failure->case_id] = *failure;
        }
    }
}

const CaptureFailure* CaptureMemory::find(const std::string& case_id) const {
    const auto found = failures_.find(case_id);
    return found == failures_.end() ? nullptr : &found->second;
}

void CaptureMemory::add(const CaptureFailure& failure) {
    failures_[failure.case_id] = failure;
    append(to_line({{"case_id", failure.case_id},
                    {"side", failure.side},
                    {"kind", failure.kind},
                    {"message", failure.message},
                    {"assumed", failure.assumed}}));
}

void CaptureMemory::remove(const std::string& case_id) {
    const bool known = failures_.erase(case_id) + forgotten_.erase(case_id) > 0;
    if (known) append(to_line({{"case_id", case_id}, {"kind", ""}}));
}

// A memory that cannot be written costs a second try in the next run, never this one.
void CaptureMemory::append(const std::string& line) {
    if (file_) static_cast<void>(file_->append(line));
}

}  // namespace opgauge
