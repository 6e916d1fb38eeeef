// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/native.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

constexpr std::array<const char*, 6> kOperators = {"mm",      "add",        "relu",
                                                   "softmax", "layer_norm", "sum"};

CorpusNode node_of(const std::string& name) {
    CorpusNode node;
    node.id = "native::" + name;
    node.file = "native";
    node.function = name;
    node.marks = {name};
    node.stage = "stable";
    return node;
}

class NativeProvider final : public Provider {
  public:
    explicit NativeProvider(std::filesystem::path program) : program_(std::move(program)) {}

    std::string_view name() const override { return "native"; }
    std::filesystem::path root() const override { return program_; }
    std::vector<std::string> shape_files() const override { return {}; }
    bool takes_option(std::string_view option) const override {
        return option == "--level" || option == "--dtypes";
    }

    Result<std::vector<CorpusNode>> list() const override {
        std::vector<CorpusNode> nodes;
        for (const char* name : kOperators) nodes.push_back(node_of(name));
        return nodes;
    }

    Result<std::vector<CorpusNode>> resolve(const NodeRequest& request) const override {
        std::string name = request.node.empty() ? request.operator_ : request.node;
        if (name.starts_with("native::")) name.erase(0, 8);
        if (std::find(kOperators.begin(), kOperators.end(), name) != kOperators.end()) {
            return std::vector{node_of(name)};
        }
        const std::vector<std::string> known(kOperators.begin(), kOperators.end());
        return fail(ErrorKind::usage,
                    fmt::format("unknown operator '{}' in the native corpus{}; it has {}",
                                printable(name), suggestion(name, known), join(known, ", ")));
    }

    CorpusCommand command(const std::vector<CorpusNode>& nodes,
                          const std::vector<std::string>& /*plugins*/,
                          const CorpusSettings& settings) const override {
        std::vector<std::string> names;
        for (const auto& node : nodes) names.push_back(node.function);
        CorpusCommand command;
        command.argv = {program_.string(), "--operators", join(names, ","), "--level",
                        settings.level};
        if (!settings.dtypes.empty()) {
            command.argv.insert(command.argv.end(), {"--dtypes", join(settings.dtypes, ",")});
        }
        return command;
    }

    CorpusVersion version(const Environment& /*environment*/) const override {
        CorpusVersion version;
        version.reason = "the native corpus is part of opgauge; its version is opgauge_version";
        return version;
    }

  private:
    std::filesystem::path program_;
};

}  // namespace

std::unique_ptr<Provider> open_native(const std::filesystem::path& program) {
    return std::make_unique<NativeProvider>(program);
}

}  // namespace opgauge
