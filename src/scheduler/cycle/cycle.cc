// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/cycle.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::scheduler {
namespace {

constexpr size_t kMinFeasible = 100;
constexpr size_t kMinPercentage = 5;

size_t Position(const std::vector<const FilterPlugin*>& list, const Plugin& plugin) {
  return std::find_if(list.begin(), list.end(),
                      [&](const FilterPlugin* p) { return p->slot() == plugin.slot(); }) -
         list.begin();
}

}  // namespace

std::string Decision::Why() const {
  return status.rejected() && diagnosis.all_nodes > 0 ? FitErrorText(diagnosis) : status.Message();
}

size_t NodesToFind(int percentage, size_t nodes) {
  if (nodes < kMinFeasible || percentage >= 100) return nodes;
  auto percent = static_cast<size_t>(std::max(percentage, 0));
  if (percent == 0) {
    const size_t less = nodes / 125;
    percent = less + kMinPercentage > 50 ? kMinPercentage : 50 - less;
  }
  return std::max(nodes * percent / 100, kMinFeasible);
}

Decision Cycle::Decide(Context& ctx, const Profile& profile, const PodInfo& pod,
                       const Snapshot& nodes) {
  Decision decision;
  if (nodes.num_nodes() == 0) {
    decision.status = PluginStatus::Unresolvable("", std::string(kNoNodes));
    // An event that any filter plugin is interested in, such as the first node, requeues the Pod.
    for (const FilterPlugin* plugin : profile.filters()) {
      decision.diagnosis.unschedulable_plugins.emplace(plugin->name());
    }
    return decision;
  }
  const Job job{profile, pod, nodes, memos_.For(profile, pod, nodes),
                metrics_ == nullptr ? nullptr : &metrics_->Of(profile)};
  Clock& clock = ctx.clock();
  Clock::SteadyTime since = clock.Monotonic();
  if (!job.memo.pre_filtered) RunPreFilters(job);
  Observe(job, Point::kPreFilter, job.memo.pre_filter.status, since, clock);
  if (job.metrics != nullptr) job.metrics->CountFilters(job.memo.skip_filter);
  const PluginStatus& pre_filter = job.memo.pre_filter.status;
  decision.diagnosis.all_nodes = nodes.num_nodes();
  if (!pre_filter.ok()) {
    decision.status = pre_filter;
    decision.diagnosis.pre_filter_message = pre_filter.Message();
    decision.diagnosis.absent = pre_filter;
    if (pre_filter.rejected()) decision.diagnosis.Blame(pre_filter);
    return decision;
  }
  since = clock.Monotonic();
  FindFeasible(job, decision);
  Observe(job, Point::kFilter, decision.status, since, clock);
  if (!decision.status.ok()) {
    if (decision.status.rejected()) RunPostFilters(ctx, job, decision);
    return decision;
  }
  if (feasible_.size() == 1) {
    decision.node = nodes.name(feasible_.front());
    return decision;
  }
  since = clock.Monotonic();
  if (!job.memo.pre_scored) RunPreScorers(job);
  Observe(job, Point::kPreScore, {}, since, clock);
  if (job.metrics != nullptr) job.metrics->CountScorers(job.memo.skip_score);
  since = clock.Monotonic();
  decision.node = nodes.name(Choose(job));
  Observe(job, Point::kScore, {}, since, clock);
  return decision;
}

void Cycle::RunPreFilters(const Job& job) const {
  Memo& memo = job.memo;
  memo.pre_filtered = true;
  for (const PreFilterPlugin* plugin : job.profile.pre_filters()) {
    PreFilterResult said = plugin->PreFilter(memo.state, job.pod, job.nodes);
    if (said.status.skip()) {
      const size_t at = Position(job.profile.filters(), *plugin);
      if (at < memo.skip_filter.size()) memo.skip_filter[at] = true;
      continue;
    }
    if (!said.status.ok()) {
      memo.pre_filter.status = said.status;
      return;
    }
    if (!said.nodes) continue;
    memo.naming.emplace_back(plugin->name());
    if (memo.pre_filter.nodes) {
      std::erase_if(*memo.pre_filter.nodes, [&](const std::string& name) {
        return std::find(said.nodes->begin(), said.nodes->end(), name) == said.nodes->end();
      });
    } else {
      memo.pre_filter.nodes = std::move(said.nodes);
    }
    if (memo.pre_filter.nodes->empty()) {
      memo.pre_filter.status = PluginStatus::Unresolvable(
          plugin->name(),
          "node(s) didn't satisfy plugin(s) [" + Join(memo.naming, " ") + "] simultaneously");
      return;
    }
  }
}

const PluginStatus& Cycle::FilterOne(const Job& job, NodeIndex node) const {
  Memo& memo = job.memo;
  PluginStatus& status = memo.verdicts[node];
  if (memo.filtered[node] == job.nodes.generation(node)) return status;
  memo.filtered[node] = job.nodes.generation(node);
  const auto& filters = job.profile.filters();
  for (size_t i = 0; i < filters.size(); ++i) {
    if (memo.skip_filter[i]) continue;
    status = filters[i]->Filter(memo.state, job.pod, job.nodes, node);
    if (!status.ok()) return status;
  }
  status = PluginStatus();
  return status;
}

void Cycle::FindFeasible(const Job& job, Decision& decision) {
  feasible_.clear();
  Diagnosis& diagnosis = decision.diagnosis;
  const auto look = [&](NodeIndex node) {
    const PluginStatus& status = FilterOne(job, node);
    ++decision.evaluated;
    if (status.ok()) {
      feasible_.push_back(node);
    } else {
      diagnosis.nodes.emplace_back(node, status);
    }
    return status.code() != Code::kError;
  };
  const std::span<const NodeIndex> order = job.nodes.order();
  bool broken = false;
  if (const auto& named = job.memo.pre_filter.nodes) {
    diagnosis.absent = PluginStatus::Unresolvable(
        "", "node(s) didn't satisfy plugin(s) [" + Join(job.memo.naming, " ") + "]");
    for (const std::string& name : *named) {
      const int64_t node = job.nodes.Find(name);
      if (node >= 0 && !look(static_cast<NodeIndex>(node))) broken = true;
    }
    if (feasible_.empty()) {
      diagnosis.unschedulable_plugins.insert(job.memo.naming.begin(), job.memo.naming.end());
    }
  } else {
    const size_t enough = NodesToFind(job.profile.percentage_of_nodes_to_score(), order.size());
    size_t at = next_start_ % order.size();
    while (decision.evaluated < order.size() && feasible_.size() < enough && !broken) {
      broken = !look(order[at]);
      if (++at == order.size()) at = 0;
    }
    next_start_ = at;
  }
  decision.feasible = feasible_.size();
  if (broken) {
    decision.status = diagnosis.nodes.back().second;
  } else if (feasible_.empty()) {
    for (const auto& [node, status] : diagnosis.nodes) diagnosis.Blame(status);
    decision.status = PluginStatus::Unschedulable("", FitErrorText(diagnosis));
  }
}

void Cycle::RunPostFilters(Context& ctx, const Job& job, Decision& decision) const {
  for (PostFilterPlugin* plugin : job.profile.post_filters()) {
    PostFilterResult said =
        plugin->PostFilter(ctx, job.memo.state, job.pod, job.nodes, decision.diagnosis.nodes);
    if (said.status.skip()) continue;
    decision.diagnosis.post_filter_message = said.status.Message();
    decision.nominated_node = std::move(said.nominated_node);
    if (said.status.ok() || said.status.code() == Code::kError) return;
  }
}

void Cycle::RunPreScorers(const Job& job) const {
  Memo& memo = job.memo;
  memo.pre_scored = true;
  const auto& scorers = job.profile.scorers();
  for (const PreScorePlugin* plugin : job.profile.pre_scorers()) {
    if (!plugin->PreScore(memo.state, job.pod, job.nodes, feasible_).skip()) continue;
    for (size_t i = 0; i < scorers.size(); ++i) {
      if (scorers[i].plugin->slot() == plugin->slot()) memo.skip_score[i] = true;
    }
  }
}

void Cycle::ScoreOne(const Job& job, NodeIndex node) const {
  Memo& memo = job.memo;
  if (memo.scored[node] == job.nodes.generation(node)) return;
  memo.scored[node] = job.nodes.generation(node);
  const auto& scorers = job.profile.scorers();
  int64_t* const scores = &memo.scores[node * scorers.size()];
  for (size_t i = 0; i < scorers.size(); ++i) {
    if (memo.skip_score[i]) continue;
    scores[i] = scorers[i].plugin->Score(memo.state, job.pod, job.nodes, node);
  }
}

NodeIndex Cycle::Choose(const Job& job) {
  const auto& scorers = job.profile.scorers();
  for (const NodeIndex node : feasible_) ScoreOne(job, node);
  totals_.assign(feasible_.size(), 0);
  scores_.resize(feasible_.size());
  for (size_t i = 0; i < scorers.size(); ++i) {
    if (job.memo.skip_score[i]) continue;
    for (size_t n = 0; n < feasible_.size(); ++n) {
      scores_[n] = job.memo.scores[feasible_[n] * scorers.size() + i];
    }
    scorers[i].plugin->NormalizeScore(scores_);
    for (size_t n = 0; n < feasible_.size(); ++n) totals_[n] += scorers[i].weight * scores_[n];
  }
  const int64_t best = *std::max_element(totals_.begin(), totals_.end());
  const size_t bests = std::count(totals_.begin(), totals_.end(), best);
  size_t drawn = bests == 1 ? 0 : random_() % bests;
  for (size_t n = 0;; ++n) {
    if (totals_[n] == best && drawn-- == 0) return feasible_[n];
  }
}

void Cycle::Observe(const Job& job, Point point, const PluginStatus& status,
                    Clock::SteadyTime since, const Clock& clock) {
  if (job.metrics != nullptr) job.metrics->Observe(point, status.code(), clock.Monotonic() - since);
}

}  // namespace cox::scheduler
