// SPDX-License-Identifier: Apache-2.0
#include "scheduler/config/configuration.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "object/codec/yaml/yaml.h"
#include "scheduler/plugins/registry.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";

Status Bad(const std::string& path, std::string_view what) {
  return Status::BadRequest(path + ": " + std::string(what));
}

// The members of one object of the document. Members that were never read are unknown fields.
class Fields {
 public:
  // `value` is null for an object without members.
  Fields(const Value* value, std::string path) : value_(value), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string Path(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  }
  const Value* Get(std::string_view name) {
    asked_.emplace(name);
    const Value* found = value_ != nullptr && value_->is_object() ? value_->Find(name) : nullptr;
    return found == nullptr || found->is_null() ? nullptr : found;
  }
  Fields Object(std::string_view name) { return {Get(name), Path(name)}; }
  std::string Text(std::string_view name) {
    const Value* found = Get(name);
    if (found == nullptr) return "";
    if (found->is_string()) return std::string(found->as_string());
    if (found->is_bool()) return found->as_bool() ? "true" : "false";
    return found->is_int() ? std::to_string(found->as_int()) : "";
  }
  Result<int64_t> Number(std::string_view name, int64_t fallback, int64_t min, int64_t max) {
    const Value* found = Get(name);
    if (found == nullptr) return fallback;
    if (!found->is_int() || found->as_int() < min || found->as_int() > max) {
      return Bad(Path(name),
                 "want a number from " + std::to_string(min) + " to " + std::to_string(max));
    }
    return found->as_int();
  }
  std::vector<Fields> List(std::string_view name) {
    std::vector<Fields> items;
    const Value* found = Get(name);
    if (found == nullptr || !found->is_array()) return items;
    for (const Value& item : found->as_array()) {
      items.emplace_back(&item, Path(name) + "[" + std::to_string(items.size()) + "]");
    }
    return items;
  }
  Status End() const {
    if (value_ == nullptr) return {};
    if (!value_->is_object()) return Bad(path_.empty() ? "the document" : path_, "want an object");
    for (const auto& [name, member] : value_->as_object()) {
      if (!asked_.contains(name)) return Bad(Path(name), "unknown field");
    }
    return {};
  }

 private:
  const Value* value_;
  std::string path_;
  std::set<std::string, std::less<>> asked_;
};

// State of one plugin during the evaluation of a profile's lists.
struct Chosen {
  std::string name;
  std::optional<int64_t> weight;
  bool everywhere = true;  // at all points that it implements, except `off`
  std::set<std::string> on, off;

  bool At(const std::string& point) const {
    return on.contains(point) || (everywhere && !off.contains(point));
  }
};

Chosen& Find(std::vector<Chosen>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Chosen& chosen) { return chosen.name == name; });
  if (found != all.end()) return *found;
  return all.emplace_back(
      Chosen{.name = name, .weight = {}, .everywhere = false, .on = {}, .off = {}});
}

// {enabled: [{name, weight}], disabled: [{name}]} of one point, or of all points ("multiPoint").
Status ReadPoint(Fields set, const std::string& point, std::vector<Chosen>& all) {
  const bool everywhere = point == "multiPoint";
  for (Fields& item : set.List("disabled")) {
    const std::string name = item.Text("name");
    for (Chosen& chosen : all) {
      if (name != "*" && name != chosen.name) continue;
      if (everywhere) chosen.everywhere = false;
      if (!everywhere) chosen.off.insert(point);
    }
    COX_RETURN_IF_ERROR(item.End());
  }
  for (Fields& item : set.List("enabled")) {
    const std::string name = item.Text("name");
    if (FindPlugin(name) == nullptr) {
      return Bad(item.Path("name"), "there is no plugin " + Quote(name));
    }
    Chosen& chosen = Find(all, name);
    if (everywhere) chosen.everywhere = true;
    if (!everywhere) chosen.on.insert(point);
    COX_ASSIGN_OR_RETURN(const int64_t weight, item.Number("weight", 0, 0, 1'000'000));
    if (weight > 0) chosen.weight = weight;
    COX_RETURN_IF_ERROR(item.End());
  }
  return set.End();
}

Status ReadPlugins(Fields plugins, ProfileOptions& profile) {
  std::vector<Chosen> all;
  for (const PluginInfo& info : AllPlugins()) {
    all.push_back(
        {.name = std::string(info.name), .weight = {}, .everywhere = true, .on = {}, .off = {}});
  }
  COX_RETURN_IF_ERROR(ReadPoint(plugins.Object("multiPoint"), "multiPoint", all));
  for (const std::string_view point : kPointNames) {
    COX_RETURN_IF_ERROR(ReadPoint(plugins.Object(point), std::string(point), all));
  }
  COX_RETURN_IF_ERROR(plugins.End());
  for (const Chosen& chosen : all) {
    ProfileOptions::PluginChoice choice{.name = chosen.name, .weight = chosen.weight, .points = {}};
    for (const std::string_view point : kPointNames) {
      if (chosen.At(std::string(point))) choice.points.emplace_back(point);
    }
    if (!choice.points.empty()) profile.plugins.push_back(std::move(choice));
  }
  return {};
}

Status ReadPluginConfig(Fields& profile) {
  for (Fields& item : profile.List("pluginConfig")) {
    const std::string name = item.Text("name");
    if (FindPlugin(name) == nullptr) {
      return Bad(item.Path("name"), "there is no plugin " + Quote(name));
    }
    Fields args = item.Object("args");
    (void)args.Get("apiVersion");
    (void)args.Get("kind");
    if (!args.End().ok()) {
      return Bad(item.Path("args"), "arguments of plugins cannot be changed yet; remove them");
    }
    COX_RETURN_IF_ERROR(item.End());
  }
  return {};
}

Result<ProfileOptions> ReadProfile(Fields fields, int64_t percentage) {
  ProfileOptions profile;
  if (const std::string name = fields.Text("schedulerName"); !name.empty()) {
    profile.scheduler_name = name;
  }
  COX_ASSIGN_OR_RETURN(const int64_t own,
                       fields.Number("percentageOfNodesToScore", percentage, 0, 100));
  profile.percentage_of_nodes_to_score = static_cast<int>(own);
  if (fields.Get("plugins") != nullptr) {
    COX_RETURN_IF_ERROR(ReadPlugins(fields.Object("plugins"), profile));
  }
  COX_RETURN_IF_ERROR(ReadPluginConfig(fields));
  COX_RETURN_IF_ERROR(fields.End());
  return profile;
}

Status ReadLeaderElection(Fields fields, Configuration& configuration) {
  static constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"leaderElect", "leader-elect"},
      {"leaseDuration", "leader-elect-lease-duration"},
      {"renewDeadline", "leader-elect-renew-deadline"},
      {"retryPeriod", "leader-elect-retry-period"},
      {"resourceLock", "leader-elect-resource-lock"},
      {"resourceName", "leader-elect-resource-name"},
      {"resourceNamespace", "leader-elect-resource-namespace"},
  };
  for (const auto& [field, flag] : kFlags) {
    const std::string text = fields.Text(field);
    if (!text.empty()) configuration.flags.emplace_back(flag, text);
  }
  return fields.End();
}

Status ReadClientConnection(Fields fields, Configuration& configuration) {
  const std::string kubeconfig = fields.Text("kubeconfig");
  if (!kubeconfig.empty()) configuration.flags.emplace_back("kubeconfig", kubeconfig);
  // Ignored: the API server's flow control limits requests, and the client chooses the content
  // type.
  for (const char* name : {"acceptContentTypes", "contentType", "qps", "burst"}) {
    (void)fields.Get(name);
  }
  return fields.End();
}

}  // namespace

Result<Configuration> ParseConfiguration(std::string_view text) {
  json::Strictness strict;
  COX_ASSIGN_OR_RETURN(const Value document, yaml::Parse(text, &strict));
  Fields fields(&document, "");
  if (!document.is_object()) return Bad("the document", "want an object");
  const std::string version = fields.Text("apiVersion");
  const std::string kind = fields.Text("kind");
  if (version != kApiVersion || kind != kKind) {
    return Bad("apiVersion, kind", "want " + std::string(kApiVersion) + " " + std::string(kKind) +
                                       ", not " + Quote(version) + " " + Quote(kind));
  }
  Configuration configuration;
  SchedulerOptions& scheduler = configuration.scheduler;
  COX_RETURN_IF_ERROR(ReadClientConnection(fields.Object("clientConnection"), configuration));
  COX_RETURN_IF_ERROR(ReadLeaderElection(fields.Object("leaderElection"), configuration));
  // Ignored: scheduling uses one thread, and profiling uses the tools of the system.
  for (const char* name :
       {"parallelism", "enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"}) {
    (void)fields.Get(name);
  }
  COX_ASSIGN_OR_RETURN(const int64_t percentage,
                       fields.Number("percentageOfNodesToScore", 0, 0, 100));
  COX_ASSIGN_OR_RETURN(const int64_t initial,
                       fields.Number("podInitialBackoffSeconds", 1, 1, 86'400));
  COX_ASSIGN_OR_RETURN(const int64_t most, fields.Number("podMaxBackoffSeconds", 10, 1, 86'400));
  if (most < initial) {
    return Bad("podMaxBackoffSeconds", "must not be less than podInitialBackoffSeconds");
  }
  scheduler.queue.initial_backoff = std::chrono::seconds(initial);
  scheduler.queue.max_backoff = std::chrono::seconds(most);
  if (!fields.List("extenders").empty()) {
    return Bad("extenders", "extenders are not supported; write a plugin");
  }
  std::vector<Fields> profiles = fields.List("profiles");
  if (!profiles.empty()) scheduler.profiles.clear();
  for (Fields& profile : profiles) {
    COX_ASSIGN_OR_RETURN(ProfileOptions read, ReadProfile(std::move(profile), percentage));
    scheduler.profiles.push_back(std::move(read));
  }
  if (profiles.empty()) {
    scheduler.profiles.front().percentage_of_nodes_to_score = static_cast<int>(percentage);
  }
  COX_RETURN_IF_ERROR(fields.End());
  return configuration;
}

}  // namespace cox::scheduler
