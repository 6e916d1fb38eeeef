// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/selection.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/batch/batch.h"
#include "opgauge/corpus/operators.h"

#include <fmt/format.h>

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace opgauge {
namespace {

// An entry with what the filters look at.
struct Candidate {
    BatchEntry entry;
    std::vector<CorpusNode> nodes;
};

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_glob(const std::string& name) {
    return name.find_first_of("*?[") != std::string::npos;
}

Candidate unknown(const std::string& name, const std::string& problem) {
    return {{name, name, "", "", problem}, {}};
}

// Everything that is looked up in one corpus; the scan is done once.
class Chooser {
  public:
    Chooser(std::vector<CorpusNode> nodes, const Provider& provider)
        : nodes_(std::move(nodes)), names_(operator_names(nodes_)), provider_(provider) {}

    void add(const std::string& name);
    void add_all() { add_matching("*"); }
    const std::vector<Candidate>& chosen() const { return chosen_; }

  private:
    void take(Candidate candidate);
    void add_matching(const std::string& glob);
    void add_node(const std::string& node);
    bool add_in_file(const std::string& name);
    std::vector<Candidate> candidates_of(const std::string& name) const;

    std::vector<CorpusNode> nodes_;
    std::vector<std::string> names_;
    const Provider& provider_;
    std::vector<Candidate> chosen_;
    std::set<std::string> taken_;
    std::set<std::string> globbed_;  // node sets that a glob has taken
};

void Chooser::take(Candidate candidate) {
    if (taken_.insert(candidate.entry.name).second) chosen_.push_back(std::move(candidate));
}

// One entry a file: `opgauge run` refuses an operator that is in several.
std::vector<Candidate> Chooser::candidates_of(const std::string& name) const {
    std::vector<Candidate> candidates;
    for (auto& node : nodes_of(name, nodes_)) {
        const auto same = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) {
            return one.nodes.front().file == node.file;
        });
        if (same != candidates.end()) {
            same->nodes.push_back(std::move(node));
        } else {
            candidates.push_back({{name, name, "", "", ""}, {std::move(node)}});
        }
    }
    if (candidates.size() < 2) return candidates;
    for (auto& [entry, nodes] : candidates) {
        entry.file = nodes.front().file;
        entry.name = name + "@" + entry.file;
    }
    return candidates;
}

void Chooser::add(const std::string& name) {
    if (name.find("::") != std::string::npos) return add_node(name);
    auto candidates = candidates_of(name);
    for (auto& candidate : candidates) take(std::move(candidate));
    if (!candidates.empty() || add_in_file(name)) return;
    if (is_glob(name)) return add_matching(name);
    take(unknown(name, fmt::format("unknown operator '{}'{}; `opgauge corpus list` names all",
                                   printable(name), suggestion(name, names_))));
}

void Chooser::add_matching(const std::string& glob) {
    bool any = false;
    for (const auto& name : names_) {
        if (::fnmatch(glob.c_str(), name.c_str(), 0) != 0) continue;
        any = true;
        for (auto& candidate : candidates_of(name)) {
            std::string set = candidate.nodes.front().only_mark;
            for (const auto& node : candidate.nodes) set += "\n" + node.id;
            // A second mark of the same tests is no second operator.
            if (globbed_.insert(set).second) take(std::move(candidate));
        }
    }
    if (!any) take(unknown(glob, fmt::format("no operator matches '{}'", printable(glob))));
}

void Chooser::add_node(const std::string& node) {
    auto nodes = provider_.resolve({node, "", ""});
    if (!nodes) return take(unknown(node, nodes.error().message));
    take({{node, "", "", node, ""}, std::move(*nodes)});
}

// "mul@test_mul.py", as a batch names it.
bool Chooser::add_in_file(const std::string& name) {
    const auto at = name.rfind('@');
    if (at == std::string::npos) return false;
    const std::string file = name.substr(at + 1);
    for (auto& candidate : candidates_of(name.substr(0, at))) {
        if (candidate.nodes.front().file != file) continue;
        candidate.entry.file = file;
        candidate.entry.name = name;
        take(std::move(candidate));
        return true;
    }
    return false;
}

Result<std::vector<std::string>> names_in(const std::string& file) {
    const auto text = read_file(file);
    if (!text) {
        return fail(ErrorKind::usage, fmt::format("--from-file: {}", text.error().message));
    }
    std::vector<std::string> names;
    for (const auto line : lines_of(*text)) {
        const std::string name(trim(line.substr(0, line.find('#'))));
        if (!name.empty()) names.push_back(name);
    }
    return names;
}

Result<std::set<std::string>> entries_of(const std::vector<std::string>& folders,
                                         bool (*wanted)(const BatchItem&)) {
    std::set<std::string> names;
    for (const auto& folder : folders) {
        OPGAUGE_TRY_ASSIGN(const Batch batch, read_batch(folder));
        for (const auto& item : batch.items) {
            if (wanted(item)) names.insert(item.entry.name);
        }
    }
    return names;
}

bool has_failed(const BatchItem& item) {
    return is_finished(item) && !is_good(item.result);
}

bool any_of_nodes(const Candidate& candidate, const std::vector<std::string>& wanted,
                  bool (*has)(const CorpusNode&, const std::string&)) {
    if (wanted.empty()) return true;
    for (const auto& node : candidate.nodes) {
        for (const auto& one : wanted) {
            if (has(node, one)) return true;
        }
    }
    return false;
}

bool of_stage(const CorpusNode& node, const std::string& stage) {
    return node.stage == stage;
}

bool with_mark(const CorpusNode& node, const std::string& mark) {
    return contains(node.marks, mark) || node.only_mark == mark;
}

Result<std::vector<BatchEntry>> narrowed(const SelectionRequest& request,
                                         const std::vector<Candidate>& candidates) {
    OPGAUGE_TRY_ASSIGN(const auto failed, entries_of(request.failed_in, has_failed));
    OPGAUGE_TRY_ASSIGN(const auto done, entries_of(request.not_in, is_finished));
    std::vector<BatchEntry> entries;
    for (const auto& candidate : candidates) {
        const std::string& name = candidate.entry.name;
        // A misspelt name stays: it would be lost without a word.
        const bool known = candidate.entry.problem.empty();
        if (known && !any_of_nodes(candidate, request.stages, of_stage)) continue;
        if (known && !any_of_nodes(candidate, request.marks, with_mark)) continue;
        if (!request.failed_in.empty() && !failed.contains(name)) continue;
        if (done.contains(name)) continue;
        entries.push_back(candidate.entry);
    }
    return entries;
}

tl::unexpected<Error> nothing_to_run(const std::vector<BatchEntry>& entries) {
    if (entries.empty()) {
        return fail(ErrorKind::usage,
                    "the selection is empty; `opgauge corpus list` names all operators");
    }
    return fail(ErrorKind::usage, fmt::format("nothing to run: {}", entries.front().problem));
}

}  // namespace

bool asks_for_nothing(const SelectionRequest& request) {
    return request.names.empty() && request.from_files.empty() && request.stages.empty() &&
           request.marks.empty() && request.failed_in.empty() && request.not_in.empty();
}

Json to_json(const SelectionRequest& request) {
    return {{"names", request.names},         {"from_files", request.from_files},
            {"stages", request.stages},       {"marks", request.marks},
            {"failed_in", request.failed_in}, {"not_in", request.not_in}};
}

Result<std::vector<BatchEntry>> select_entries(const SelectionRequest& request,
                                               const Provider& provider) {
    if (asks_for_nothing(request)) {
        return fail(ErrorKind::usage,
                    "batch needs a selection: operators, globs ('*' is all), --from-file, "
                    "--stage, --mark, --failed-in or --not-in");
    }
    std::vector<std::string> names = request.names;
    for (const auto& file : request.from_files) {
        OPGAUGE_TRY_ASSIGN(const auto more, names_in(file));
        names.insert(names.end(), more.begin(), more.end());
    }
    OPGAUGE_TRY_ASSIGN(auto nodes, provider.list());
    Chooser chooser(std::move(nodes), provider);
    for (const auto& name : names) chooser.add(name);
    // An empty file selects nothing, not everything.
    if (request.names.empty() && request.from_files.empty()) chooser.add_all();
    OPGAUGE_TRY_ASSIGN(auto entries, narrowed(request, chooser.chosen()));
    const bool any = std::any_of(entries.begin(), entries.end(),
                                 [](const BatchEntry& entry) { return entry.problem.empty(); });
    if (!any) return nothing_to_run(entries);
    return entries;
}

}  // namespace opgauge
