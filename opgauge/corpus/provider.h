// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// One test function of a corpus that benchmarks an operator.
struct CorpusNode {
    std::string id;    // "test_mm.py::test_mm"; for native: "native::mm"
    std::string file;  // relative to the corpus's benchmark folder
    std::string function;
    std::vector<std::string> marks;       // operator marks, built-in pytest marks left out
    std::vector<std::string> case_marks;  // those of single parameter sets: pytest.param(marks=...)
    std::string only_mark;                // not empty: run only the parameter sets with this mark
    std::string stage;                    // "stable", "beta", "alpha"; empty: unknown
    int line = 0;
};

// What the user asked for: one of these, in this order of precedence.
struct NodeRequest {
    std::string node;       // --node / TEST_NODE: taken verbatim
    std::string operator_;  // positional / OP
    std::string file;       // --file / OP_FILE: narrows the operator to one file
};

// As the only dtype: float16 where the operator has it, else its own first one.
constexpr const char* kFirstDtype = "first";

// Settings that the corpus's own options take.
struct CorpusSettings {
    std::string level = "core";       // core | comprehensive
    std::vector<std::string> dtypes;  // empty: the operator's own; or kFirstDtype alone

    bool first_dtype() const { return dtypes.size() == 1 && dtypes.front() == kFirstDtype; }

    std::string mode = "kernel";
    int warmup_ms = 0;       // 0: not passed
    int iteration_ms = 0;    // 0: not passed
    std::string shape_file;  // absolute; empty: the corpus's own shapes
    std::string backend;     // some vendors rename an option
};

// A process to start for a list of nodes.
struct CorpusCommand {
    std::vector<std::string> argv;
    std::string working_directory;
    std::vector<std::pair<std::string, std::string>> environment;  // added to the child's
};

// Version of a corpus for the identity.
struct CorpusVersion {
    std::optional<std::string> commit;
    std::optional<std::string> dirty_digest;  // digest of the uncommitted change; nullopt: clean
    std::optional<std::string> reason;        // why there is no commit
};

// One corpus as it is when it is first asked: what costs time to find out may be kept.
class Provider {
  public:
    virtual ~Provider() = default;
    virtual std::string_view name() const = 0;
    // Every node, sorted by id; a static scan, nothing is imported or started.
    virtual Result<std::vector<CorpusNode>> list() const = 0;
    // The nodes of a request. Kind usage: unknown (with suggestion) or ambiguous (lists
    // candidates).
    virtual Result<std::vector<CorpusNode>> resolve(const NodeRequest& request) const = 0;
    virtual CorpusCommand command(const std::vector<CorpusNode>& nodes,
                                  const std::vector<std::string>& plugins,
                                  const CorpusSettings& settings) const = 0;
    virtual CorpusVersion version(const Environment& environment) const = 0;
    virtual std::filesystem::path root() const = 0;
    // Whether the corpus's runner has an option of this name ("--dtypes", "--shape_file").
    virtual bool takes_option(std::string_view option) const = 0;
    // The corpus's own shape files, first the one that it uses by default; empty: it has none.
    virtual std::vector<std::string> shape_files() const = 0;
    // Modules that every test of the corpus imports; empty: none that are known.
    virtual std::vector<std::string> imports() const { return {}; }
    // Folders that the corpus's pytest adds to the interpreter's path before it imports these.
    virtual std::vector<std::string> import_paths() const { return {}; }
};

}  // namespace opgauge
