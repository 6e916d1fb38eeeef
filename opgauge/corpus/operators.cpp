// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/operators.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace opgauge {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

template <typename Predicate>
std::vector<CorpusNode> select(const std::vector<CorpusNode>& nodes, Predicate predicate) {
    std::vector<CorpusNode> found;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(found), predicate);
    return found;
}

}  // namespace

std::vector<CorpusNode> nodes_of(const std::string& name, const std::vector<CorpusNode>& nodes) {
    auto found = select(nodes, [&](const CorpusNode& n) { return contains(n.marks, name); });
    if (!found.empty()) return found;
    found = select(nodes, [&](const CorpusNode& n) {
        return n.function == name || n.function == "test_" + name;
    });
    if (!found.empty()) return found;
    found = select(nodes, [&](const CorpusNode& n) {
        return std::filesystem::path(n.file).stem() == "test_" + name;
    });
    if (!found.empty()) return found;
    found = select(nodes, [&](const CorpusNode& n) { return contains(n.case_marks, name); });
    for (auto& node : found) node.only_mark = name;
    return found;
}

std::vector<std::string> operator_names(const std::vector<CorpusNode>& nodes) {
    std::set<std::string> names;
    for (const auto& node : nodes) {
        names.insert(node.marks.begin(), node.marks.end());
        names.insert(node.case_marks.begin(), node.case_marks.end());
        if (!node.marks.empty() || !node.case_marks.empty()) continue;
        const std::string& function = node.function;
        names.insert(function.starts_with("test_") ? function.substr(5) : function);
    }
    return {names.begin(), names.end()};
}

}  // namespace opgauge
