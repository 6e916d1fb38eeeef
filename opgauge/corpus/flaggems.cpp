// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/flaggems.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/corpus/git_version.h"
#include "opgauge/corpus/operators.h"
#include "opgauge/corpus/pytest_scan.h"
#include "opgauge/corpus/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

bool is_test_file(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with("test_") && name.ends_with(".py");
}

std::vector<fs::path> test_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code ignored;
        // A dangling link or a folder of such a name is no test; it must not hide all others.
        if (is_test_file(it->path()) && it->is_regular_file(ignored)) files.push_back(it->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

std::set<std::string> files_of(const std::vector<CorpusNode>& nodes) {
    std::set<std::string> files;
    for (const auto& node : nodes) files.insert(node.file);
    return files;
}

template <typename Predicate>
std::vector<CorpusNode> select(const std::vector<CorpusNode>& nodes, Predicate predicate) {
    std::vector<CorpusNode> found;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(found), predicate);
    return found;
}

// `--file test_mm.py`, `test_mm`, `benchmark/test_mm.py` or `mm` all name test_mm.py.
bool names_file(const std::string& wanted, const std::string& file) {
    const std::string stem = fs::path(file).stem().string();
    const fs::path path(wanted);
    const std::string wanted_stem =
        path.extension() == ".py" ? path.stem().string() : path.filename().string();
    return stem == wanted_stem || stem == "test_" + wanted_stem;
}

class FlagGemsProvider final : public Provider {
  public:
    FlagGemsProvider(fs::path root, fs::path benchmarks, std::string python, fs::path bridge)
        : root_(std::move(root)),
          benchmarks_(std::move(benchmarks)),
          python_(std::move(python)),
          bridge_(std::move(bridge)) {
        if (const auto conftest = read_file(benchmarks_ / "conftest.py")) {
            options_ = scan_options(*conftest);
        }
    }

    std::string_view name() const override { return is_flaggems() ? "flaggems" : "pytest"; }
    fs::path root() const override { return root_; }

    Result<std::vector<CorpusNode>> list() const override {
        OPGAUGE_TRY(scan());
        auto nodes = *scanned_;
        const auto stages = read_stages(root_ / "conf" / "operators.yaml");
        for (auto& node : nodes) {
            for (const auto& mark : node.marks) {
                const auto found = stages.find(mark);
                if (found != stages.end()) node.stage = found->second;
            }
        }
        return nodes;
    }

    Result<std::vector<CorpusNode>> resolve(const NodeRequest& request) const override {
        if (!request.node.empty()) return resolve_node(request.node);
        OPGAUGE_TRY(scan());
        return resolve_operator(request, *scanned_);
    }

    CorpusCommand command(const std::vector<CorpusNode>& nodes,
                          const std::vector<std::string>& plugins,
                          const CorpusSettings& settings) const override;
    CorpusVersion version(const Environment& environment) const override;
    bool takes_option(std::string_view option) const override {
        return contains(options_, std::string(option));
    }
    std::vector<std::string> shape_files() const override {
        const fs::path file = benchmarks_ / "core_shapes.yaml";
        std::error_code error;
        return fs::exists(file, error) ? std::vector{file.string()} : std::vector<std::string>{};
    }
    std::vector<std::string> imports() const override {
        return is_flaggems() ? std::vector<std::string>{"flag_gems"} : std::vector<std::string>{};
    }
    // `pythonpath = src` of its pytest.ini.
    std::vector<std::string> import_paths() const override {
        std::error_code error;
        const fs::path source = root_ / "src";
        const bool there = is_flaggems() && fs::is_directory(source, error);
        return there ? std::vector{source.string()} : std::vector<std::string>{};
    }

  private:
    bool is_flaggems() const { return benchmarks_ != root_; }
    Result<void> scan() const;
    Result<std::vector<CorpusNode>> resolve_node(const std::string& node) const;
    tl::unexpected<Error> unknown_operator(const std::string& name,
                                           const std::vector<CorpusNode>& nodes) const;
    Result<std::vector<CorpusNode>> resolve_operator(const NodeRequest& request,
                                                     const std::vector<CorpusNode>& nodes) const;

    fs::path root_;
    fs::path benchmarks_;  // where pytest runs
    std::string python_;
    fs::path bridge_;
    std::vector<std::string> options_;  // that the corpus's conftest declares
    // Found out once: reading 700 files and asking git take longer than planning an operator.
    mutable std::optional<std::vector<CorpusNode>> scanned_;
    mutable std::optional<CorpusVersion> version_;
};

Result<void> FlagGemsProvider::scan() const {
    if (scanned_) return {};
    std::vector<CorpusNode> nodes;
    for (const auto& path : test_files(benchmarks_)) {
        OPGAUGE_TRY_ASSIGN(const std::string text, read_file(path));
        const std::string file = path.lexically_relative(benchmarks_).string();
        for (auto& node : scan_pytest_file(text, file)) nodes.push_back(std::move(node));
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const CorpusNode& a, const CorpusNode& b) { return a.id < b.id; });
    scanned_ = std::move(nodes);
    return {};
}

Result<std::vector<CorpusNode>> FlagGemsProvider::resolve_node(const std::string& node) const {
    // A path from the corpus's root is as good as one from its benchmark folder.
    std::string id = node;
    if (is_flaggems() && id.starts_with("benchmark/")) id.erase(0, 10);
    const auto mark = id.find("::");
    const std::string file = id.substr(0, mark);
    std::error_code error;
    if (!fs::is_regular_file(benchmarks_ / file, error)) {
        return fail(ErrorKind::usage, fmt::format("node {}: there is no file {}", printable(node),
                                                  (benchmarks_ / printable(file)).string()));
    }
    CorpusNode taken;
    taken.id = id;
    taken.file = file;
    taken.function =
        mark == std::string::npos ? fs::path(file).stem().string() : id.substr(mark + 2);
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(benchmarks_ / file));
    for (const auto& known : scan_pytest_file(text, file)) {
        if (known.id == id.substr(0, id.find('['))) taken.marks = known.marks;
    }
    return std::vector{taken};
}

tl::unexpected<Error> FlagGemsProvider::unknown_operator(
    const std::string& name, const std::vector<CorpusNode>& nodes) const {
    std::set<std::string> marks;
    for (const auto& node : nodes) {
        marks.insert(node.marks.begin(), node.marks.end());
        marks.insert(node.case_marks.begin(), node.case_marks.end());
    }
    const std::vector<std::string> known(marks.begin(), marks.end());
    return fail(
        ErrorKind::usage,
        fmt::format("unknown operator '{}' in {}{}; `opgauge corpus list` names all {}",
                    printable(name), root_.string(), suggestion(name, known), known.size()));
}

Result<std::vector<CorpusNode>> FlagGemsProvider::resolve_operator(
    const NodeRequest& request, const std::vector<CorpusNode>& nodes) const {
    const std::string& name = request.operator_;
    const auto found = nodes_of(name, nodes);
    if (found.empty()) return unknown_operator(name, nodes);
    if (!request.file.empty()) {
        const auto in_file = nodes_of(name, select(nodes, [&](const CorpusNode& n) {
                                          return names_file(request.file, n.file);
                                      }));
        if (!in_file.empty()) return in_file;
        const auto files = files_of(found);
        return fail(ErrorKind::usage,
                    fmt::format("operator '{}' is not in {}; it is in {}", printable(name),
                                printable(request.file), fmt::join(files, ", ")));
    }
    const auto files = files_of(found);
    if (files.size() > 1) {
        return fail(ErrorKind::usage,
                    fmt::format("operator '{}' is in several files: {}; choose one with --file",
                                printable(name), fmt::join(files, ", ")));
    }
    return found;
}

CorpusCommand FlagGemsProvider::command(const std::vector<CorpusNode>& nodes,
                                        const std::vector<std::string>& plugins,
                                        const CorpusSettings& settings) const {
    CorpusCommand command;
    command.working_directory = benchmarks_.string();
    command.argv = {python_, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"};
    for (const auto& plugin : plugins) {
        command.argv.emplace_back("-p");
        command.argv.push_back(plugin);
    }
    const auto pass = [&](const std::string& option, const std::string& value) {
        if (value.empty() || !takes_option(option)) return;
        command.argv.push_back(option);
        command.argv.push_back(value);
    };
    pass("--level", settings.level);
    // Which one is an operator's first only the child knows (docs/child_protocol.md, `select`).
    if (!settings.first_dtype()) {
        for (const auto& dtype : settings.dtypes) pass("--dtypes", dtype);
    }
    // One vendor of the corpus renames the option; which one it is at run time only the corpus
    // knows, and "kernel" is its default under either name.
    if (!takes_option("--fg_mode")) {
        pass("--mode", settings.mode);
    }
    if (settings.warmup_ms > 0) pass("--warmup", std::to_string(settings.warmup_ms));
    if (settings.iteration_ms > 0) pass("--iter", std::to_string(settings.iteration_ms));
    pass("--shape_file", settings.shape_file);
    if (!nodes.empty() && !nodes.front().only_mark.empty()) {
        command.argv.emplace_back("-m");
        command.argv.push_back(nodes.front().only_mark);
    }
    for (const auto& node : nodes) command.argv.push_back(node.id);
    command.environment.emplace_back("PYTHONPATH", bridge_.string());
    command.environment.emplace_back("PYTHONUNBUFFERED", "1");
    return command;
}

CorpusVersion FlagGemsProvider::version(const Environment& environment) const {
    if (!version_) version_ = git_version(root_, environment);
    return *version_;
}

}  // namespace

Result<std::unique_ptr<Provider>> open_flaggems(const fs::path& folder, const std::string& python,
                                                const fs::path& bridge) {
    std::error_code error;
    const fs::path root = fs::absolute(folder, error).lexically_normal();
    if (!fs::is_directory(root, error)) {
        return fail(ErrorKind::environment,
                    fmt::format("corpus {}: no such folder", printable(folder.string())));
    }
    const fs::path inner = root / "benchmark";
    const fs::path benchmarks = fs::is_directory(inner, error) ? inner : root;
    if (test_files(benchmarks).empty()) {
        return fail(ErrorKind::environment,
                    fmt::format("corpus {}: it has neither benchmark/test_*.py nor test_*.py",
                                root.string()));
    }
    return std::make_unique<FlagGemsProvider>(root, benchmarks, python, bridge);
}

}  // namespace opgauge
