// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/decisions.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/plan/cache.h"
#include "opgauge/plan/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace opgauge {
namespace {

const std::vector<std::string>& known_timers() {
    static const std::vector<std::string> kTimers = {"graph", "event", "direct", "host"};
    return kTimers;
}

bool has(const Backend& backend, Capability capability) {
    return backend.capabilities().contains(capability);
}

std::string lacks(const Backend& backend, Capability capability) {
    return fmt::format("backend {} has no capability {}", backend.name(), name_of(capability));
}

Result<ShapesDecision> shapes_of_file(const std::string& file) {
    ShapesDecision shapes;
    OPGAUGE_TRY(check_shape_file(file));
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(file));
    shapes.decision = {file, "--shapes"};
    shapes.file = std::filesystem::absolute(file).lexically_normal().string();
    shapes.digest = short_digest(text);
    return shapes;
}

Result<ShapesDecision> upstream_shapes(const Provider& provider, std::string why) {
    ShapesDecision shapes;
    shapes.decision = {"upstream", std::move(why)};
    const auto files = provider.shape_files();
    if (files.empty()) return shapes;
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(files.front()));
    shapes.digest = short_digest(text);
    return shapes;
}

}  // namespace

Result<Decision> decide_timer(const std::string& option, const Backend& backend,
                              const std::string& corpus_name) {
    const std::string timer = lower(trim(option));
    const bool native = corpus_name == "native";
    if (timer.empty()) {
        if (native) return Decision{"host", "the native corpus is timed on the host"};
        const std::string own(backend.default_timer());
        if (own == "graph") return Decision{own, "capability graph_capture"};
        return Decision{
            "direct",
            fmt::format("the corpus's own do_bench, the default of backend {}", backend.name())};
    }
    const auto& known = known_timers();
    if (std::find(known.begin(), known.end(), timer) == known.end()) {
        return fail(ErrorKind::usage,
                    fmt::format("unknown timer '{}'{}; known: {}", printable(option),
                                suggestion(timer, known), join(known, ", ")));
    }
    const std::string fitting = native ? "host" : "direct";
    if (timer == "graph" && !has(backend, Capability::graph_capture)) {
        return fail(
            ErrorKind::refused,
            "--timer graph: " + lacks(backend, Capability::graph_capture) + "; use " + fitting);
    }
    if (timer == "event" && !has(backend, Capability::event_timing)) {
        return fail(
            ErrorKind::refused,
            "--timer event: " + lacks(backend, Capability::event_timing) + "; use " + fitting);
    }
    if (native == (timer == "host")) return Decision{timer, "--timer"};
    return fail(ErrorKind::refused,
                fmt::format("--timer {}: the {} corpus is timed with {}", timer, corpus_name,
                            native ? "host" : "graph, event or direct"));
}

Result<TimerSettings> decide_timer_settings(const std::string& l2, const Backend& backend,
                                            const std::string& timer) {
    TimerSettings settings;
    const std::string asked = lower(trim(l2));
    const bool ours = timer == "graph" || timer == "event";
    if (!asked.empty() && asked != "cold" && asked != "hot") {
        return fail(ErrorKind::usage, fmt::format("--l2 {}: it takes cold or hot", printable(l2)));
    }
    if (!asked.empty() && !ours) {
        return fail(ErrorKind::refused,
                    fmt::format("--l2 {}: timer {} leaves the cache as it is; use --timer event",
                                asked, timer));
    }
    if (asked == "cold" && timer == "graph") {
        return fail(ErrorKind::refused,
                    "--l2 cold: a graph's calls follow each other, its cache is hot; use --timer "
                    "event");
    }
    if (!ours) return settings;
    settings.fallback_timer = has(backend, Capability::event_timing) ? "event" : "direct";
    const bool cold = asked != "hot";
    if (cold && !has(backend, Capability::l2_flush) && timer == "event") {
        return fail(ErrorKind::refused,
                    "--timer event: " + lacks(backend, Capability::l2_flush) + "; use --l2 hot");
    }
    settings.json = {{"l2", cold ? "cold" : "hot"},
                     {"hold", has(backend, Capability::device_hold)}};
    return settings;
}

Result<ShapesDecision> decide_shapes(const std::string& option, const Environment& environment,
                                     const Provider& provider) {
    if (option == "upstream") return upstream_shapes(provider, "--shapes upstream");
    if (!option.empty() && option != "compact") return shapes_of_file(option);
    const auto mode = environment.get_non_empty("SHAPE_MODE");
    if (option.empty() && mode) {
        if (lower(*mode) == "upstream") return upstream_shapes(provider, "SHAPE_MODE=upstream");
        if (lower(*mode) != "compact") {
            return fail(ErrorKind::usage,
                        fmt::format("SHAPE_MODE={}: it takes upstream or compact; name a file with "
                                    "--shapes",
                                    printable(*mode)));
        }
    }
    const auto files = provider.shape_files();
    if (files.empty()) return upstream_shapes(provider, "the corpus has no shape file to shorten");
    ShapesDecision shapes;
    OPGAUGE_TRY_ASSIGN(shapes.content, compact_shapes(files.front()));
    shapes.digest = short_digest(shapes.content);
    shapes.decision = {"compact",
                       option.empty() && !mode
                           ? "default; SHAPE_MODE=upstream leaves the corpus's shapes alone"
                           : (mode ? "SHAPE_MODE=compact" : "--shapes compact")};
    shapes.file = (cache_folder(environment) / "shapes" / (*shapes.digest + ".yaml")).string();
    return shapes;
}

PluginDecisions decide_plugins(const Backend& backend, const std::string& timer) {
    PluginDecisions plugins;
    plugins.used.push_back({"opgauge_bridge.plugin", "cases, times and outcomes reach opgauge"});
    plugins.used.push_back({"opgauge_bridge.guard", "the child must see the planned device"});
    const Decision graph = {"opgauge_bridge.graph", lacks(backend, Capability::graph_capture)};
    if (!has(backend, Capability::graph_capture)) {
        plugins.left_out.push_back(graph);
    } else if (timer != "graph") {
        plugins.left_out.push_back({"opgauge_bridge.graph", "timer is " + timer});
    } else {
        plugins.used.push_back({"opgauge_bridge.graph", "capability graph_capture"});
    }
    if (has(backend, Capability::thread_block_clusters)) {
        plugins.used.push_back({"opgauge_bridge.clusters", "capability thread_block_clusters"});
    } else {
        plugins.left_out.push_back(
            {"opgauge_bridge.clusters", lacks(backend, Capability::thread_block_clusters)});
    }
    return plugins;
}

Result<std::vector<std::string>> decide_dtypes(const std::vector<std::string>& dtypes) {
    constexpr const char* kAllDtypes = "all";
    for (const char* word : {kFirstDtype, kAllDtypes}) {
        if (std::find(dtypes.begin(), dtypes.end(), word) == dtypes.end()) continue;
        if (dtypes.size() > 1) {
            return fail(ErrorKind::usage,
                        fmt::format("--dtypes {}: '{}' stands alone", join(dtypes, ","), word));
        }
        return word == kAllDtypes ? std::vector<std::string>() : dtypes;
    }
    static const std::vector<std::string> kKnown = {
        "float16",   "float32",    "bfloat16", "float64",       "int8",
        "int16",     "int32",      "int64",    "uint8",         "bool",
        "complex64", "complex128", "cfloat",   "float8_e4m3fn", "float8_e5m2"};
    for (const auto& dtype : dtypes) {
        if (std::find(kKnown.begin(), kKnown.end(), dtype) != kKnown.end()) continue;
        return fail(ErrorKind::usage,
                    fmt::format("unknown dtype '{}'{}; known: first, all, {}", printable(dtype),
                                suggestion(dtype, kKnown), join(kKnown, ", ")));
    }
    return dtypes;
}

Result<RequestDecision> decide_request(const NodeRequest& option, const Environment& environment) {
    RequestDecision decision;
    if (!option.node.empty()) return RequestDecision{option, "--node"};
    if (!option.operator_.empty()) {
        decision.request = option;
        decision.why = option.file.empty() ? "operator" : "operator and --file";
        // Beside OP it belongs to that operator, which may be another one.
        const auto file = environment.get_non_empty("OP_FILE");
        if (option.file.empty() && file && !environment.get_non_empty("OP")) {
            decision.request.file = *file;
            decision.why = "operator and OP_FILE";
        }
        return decision;
    }
    if (const auto node = environment.get_non_empty("TEST_NODE")) {
        decision.request.node = *node;
        decision.why = "TEST_NODE";
        return decision;
    }
    if (const auto name = environment.get_non_empty("OP")) {
        decision.request.operator_ = *name;
        decision.request.file =
            option.file.empty() ? environment.get("OP_FILE").value_or("") : option.file;
        decision.why = decision.request.file.empty() ? "OP" : "OP and OP_FILE";
        return decision;
    }
    return fail(ErrorKind::usage,
                "no operator named; give one (`opgauge run mm`), --node, or set OP or "
                "TEST_NODE");
}

}  // namespace opgauge
