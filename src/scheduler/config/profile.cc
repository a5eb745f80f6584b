// SPDX-License-Identifier: Apache-2.0
#include "scheduler/config/profile.h"

#include <algorithm>

#include "base/strings.h"
#include "scheduler/plugins/registry.h"

namespace cox::scheduler {
namespace {

// Maximum wait at Permit, because a waiting Pod reserves resources on its node without using them.
constexpr std::chrono::minutes kLongestWait{15};

template <class T, class List>
void AddIf(Plugin* plugin, List& list) {
  if (auto* typed = dynamic_cast<T*>(plugin)) list.push_back(typed);
}

// "running Bind plugin "DefaultBinder": ...", for errors.
PluginStatus Named(std::string_view point, const Plugin& plugin, const PluginStatus& status) {
  if (status.code() != Code::kError) return status;
  return PluginStatus::Error(plugin.name(), "running " + std::string(point) + " plugin " +
                                                Quote(plugin.name()) + ": " + status.Message());
}

}  // namespace

void NormalizeByMax(std::span<int64_t> scores, bool reverse) {
  int64_t max = 0;
  for (const int64_t score : scores) max = std::max(max, score);
  if (max == 0) {
    if (reverse) std::fill(scores.begin(), scores.end(), kMaxNodeScore);
    return;
  }
  for (int64_t& score : scores) {
    score = kMaxNodeScore * score / max;
    if (reverse) score = kMaxNodeScore - score;
  }
}

Result<std::unique_ptr<Profile>> Profile::Create(const ProfileOptions& options,
                                                 const PluginHandle& handle) {
  std::vector<std::pair<std::unique_ptr<Plugin>, int64_t>> plugins;
  if (options.plugins.empty()) {
    for (const PluginInfo& info : AllPlugins())
      plugins.emplace_back(info.make(handle), info.weight);
  }
  for (const ProfileOptions::PluginChoice& choice : options.plugins) {
    const PluginInfo* info = FindPlugin(choice.name);
    if (info == nullptr) {
      return Status::BadRequest("profile " + Quote(options.scheduler_name) +
                                ": there is no plugin " + Quote(choice.name));
    }
    plugins.emplace_back(info->make(handle), choice.weight.value_or(info->weight));
  }
  return Create(options, std::move(plugins));
}

Result<std::unique_ptr<Profile>> Profile::Create(
    const ProfileOptions& options,
    std::vector<std::pair<std::unique_ptr<Plugin>, int64_t>> plugins) {
  auto profile = std::make_unique<Profile>(options);
  for (auto& [plugin, weight] : plugins) profile->Add(std::move(plugin), weight);
  const std::string who = "profile " + Quote(options.scheduler_name);
  if (profile->queue_sort_ == nullptr) {
    return Status::BadRequest(who + ": no queue sort plugin is enabled; add PrioritySort");
  }
  if (profile->binders_.empty()) {
    return Status::BadRequest(who + ": no bind plugin is enabled; add DefaultBinder");
  }
  return profile;
}

void Profile::Add(std::unique_ptr<Plugin> plugin, int64_t weight) {
  Plugin* const p = plugin.get();
  p->set_slot(plugins_.size());
  plugins_.push_back(std::move(plugin));
  const auto at = [&](std::string_view point) {
    const auto choice =
        std::find_if(options_.plugins.begin(), options_.plugins.end(),
                     [&](const ProfileOptions::PluginChoice& c) { return c.name == p->name(); });
    return choice == options_.plugins.end() || choice->points.empty() ||
           std::find(choice->points.begin(), choice->points.end(), point) != choice->points.end();
  };
  if (at("preEnqueue")) AddIf<const PreEnqueuePlugin>(p, pre_enqueue_);
  if (at("queueSort") && queue_sort_ == nullptr) {
    queue_sort_ = dynamic_cast<const QueueSortPlugin*>(p);
  }
  // Filter and Score need the state that PreFilter prepares.
  if (at("preFilter") || at("filter") || at("score")) {
    AddIf<const PreFilterPlugin>(p, pre_filters_);
  }
  if (at("filter")) AddIf<const FilterPlugin>(p, filters_);
  if (at("postFilter")) AddIf<PostFilterPlugin>(p, post_filters_);
  if (at("preScore") || at("score")) AddIf<const PreScorePlugin>(p, pre_scorers_);
  if (const auto* scorer = dynamic_cast<const ScorePlugin*>(p);
      scorer != nullptr && weight > 0 && at("score")) {
    scorers_.push_back({scorer, weight});
  }
  if (at("reserve")) AddIf<ReservePlugin>(p, reservers_);
  if (at("permit")) AddIf<PermitPlugin>(p, permits_);
  if (at("preBind")) AddIf<PreBindPlugin>(p, pre_binders_);
  if (at("bind")) AddIf<BindPlugin>(p, binders_);
  if (at("postBind")) AddIf<PostBindPlugin>(p, post_binders_);
}

std::string Profile::Sign(const PodInfo& pod) const {
  Signature signature;
  signature.Add(name());
  for (const auto& plugin : plugins_) {
    if (!plugin->Sign(pod, signature)) return "";
  }
  return signature.Take();
}

std::map<std::string, std::vector<EventInterest>, std::less<>> Profile::Events() const {
  std::map<std::string, std::vector<EventInterest>, std::less<>> events;
  for (const auto& plugin : plugins_) {
    std::vector<EventInterest> interests = plugin->Events();
    if (!interests.empty()) events[std::string(plugin->name())] = std::move(interests);
  }
  return events;
}

PluginStatus Profile::RunPreEnqueue(const PodInfo& pod) const {
  for (const PreEnqueuePlugin* plugin : pre_enqueue_) {
    PluginStatus status = plugin->PreEnqueue(pod);
    if (!status.ok()) return status;
  }
  return {};
}

PluginStatus Profile::RunReserve(CycleState& state, const PodInfo& pod,
                                 const std::string& node) const {
  for (ReservePlugin* plugin : reservers_) {
    const PluginStatus status = plugin->Reserve(state, pod, node);
    if (!status.ok()) return Named("Reserve", *plugin, status);
  }
  return {};
}

void Profile::RunUnreserve(CycleState& state, const PodInfo& pod, const std::string& node) const {
  for (auto at = reservers_.rbegin(); at != reservers_.rend(); ++at) {
    (*at)->Unreserve(state, pod, node);
  }
}

PluginStatus Profile::RunPermit(CycleState& state, const PodInfo& pod, const std::string& node,
                                std::vector<WaitingPods::Wait>& waits) const {
  for (PermitPlugin* plugin : permits_) {
    const PermitResult said = plugin->Permit(state, pod, node);
    if (said.status.code() == Code::kWait) {
      waits.push_back(
          {std::string(plugin->name()), std::min<Clock::Duration>(said.at_most, kLongestWait)});
    } else if (!said.status.ok()) {
      return Named("Permit", *plugin, said.status);
    }
  }
  return waits.empty() ? PluginStatus() : PluginStatus(Code::kWait, "", {});
}

PluginStatus Profile::RunPreBind(Context& ctx, CycleState& state, const PodInfo& pod,
                                 const std::string& node) const {
  for (PreBindPlugin* plugin : pre_binders_) {
    const PluginStatus status = plugin->PreBind(ctx, state, pod, node);
    if (!status.ok()) return Named("PreBind", *plugin, status);
  }
  return {};
}

PluginStatus Profile::RunBind(Context& ctx, const PodInfo& pod, const std::string& node) const {
  for (BindPlugin* plugin : binders_) {
    const PluginStatus status = plugin->Bind(ctx, pod, node);
    if (status.skip()) continue;
    const PluginStatus named = Named("Bind", *plugin, status);
    return named.code() == Code::kError
               ? PluginStatus::Error(plugin->name(), "binding rejected: " + named.Message())
               : named;
  }
  return PluginStatus::Error("", "no plugin binds this pod");
}

void Profile::RunPostBind(Context& ctx, const PodInfo& pod, const std::string& node) const {
  for (PostBindPlugin* plugin : post_binders_) plugin->PostBind(ctx, pod, node);
}

}  // namespace cox::scheduler
