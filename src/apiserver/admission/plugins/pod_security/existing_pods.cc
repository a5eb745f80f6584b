// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/existing_pods.h"

#include <algorithm>
#include <map>
#include <set>

#include "apiserver/admission/plugins/pod_security/standards.h"
#include "base/strings.h"

namespace cox::apiserver::pod_security {
namespace {

using core::v1::Pod;

class ExistingPods {
 public:
  ExistingPods(const ResourceStore& pods, const LevelVersion& standard, const Options& options)
      : pods_(pods), standard_(standard), options_(options) {}

  // Checks the Pods of the namespace until the limit is reached or `ctx` is done.
  void EvaluatePod(const Context& ctx, const storage::Snapshot& snapshot, std::string_view ns,
                   size_t limit) {
    const std::string prefix = pods_.Prefix(ns);
    total_ = snapshot.Count(prefix, {});
    // Pods of the same controller usually have the same violations, so the others are checked last.
    std::vector<storage::EntryPtr> later;
    std::set<std::string> controllers;
    auto busy = [&] { return checked_ < limit && !ctx.Done(); };
    snapshot.Visit(prefix, {}, [&](const storage::EntryPtr& entry) {
      const std::optional<Pod> pod = Read(*entry);
      if (!pod) return busy();
      const std::string controller = ControllerOf(*pod);
      if (controller.empty() || controllers.insert(controller).second) {
        Check(*pod);
      } else {
        later.push_back(entry);
      }
      return busy();
    });
    for (const storage::EntryPtr& entry : later) {
      if (!busy()) break;
      if (const std::optional<Pod> pod = Read(*entry)) Check(*pod);
    }
  }

  Warnings AddWarnings(std::string_view ns) const {
    Warnings out;
    if (checked_ < total_) {
      out.push_back("new PodSecurity enforce level only checked against the first " +
                    std::to_string(checked_) + " of " + std::to_string(total_) + " existing pods");
    }
    if (found_.empty()) return out;
    out.push_back("existing pods in namespace " + Quote(ns) +
                  " violate the new PodSecurity enforce level " + Quote(standard_.ToString()));
    Warnings lines;
    for (const auto& [reasons, who] : found_) {
      std::string line = who.first;
      if (who.count == 2) line += " (and 1 other pod)";
      if (who.count > 2) line += " (and " + std::to_string(who.count - 1) + " other pods)";
      lines.push_back(line + ": " + reasons);
    }
    std::sort(lines.begin(), lines.end());
    out.insert(out.end(), lines.begin(), lines.end());
    return out;
  }

 private:
  struct Offenders {
    std::string first;  // the first one by name
    size_t count = 0;
  };

  std::optional<Pod> Read(const storage::Entry& entry) const {
    Result<Object> object = pods_.Decode(entry.stored(), entry.revision());
    if (!object.ok()) return std::nullopt;
    return std::move(*object->As<Pod>());
  }

  static std::string ControllerOf(const Pod& pod) {
    for (const meta::v1::OwnerReference& owner : pod.metadata.ownerReferences) {
      if (owner.controller.value_or(false)) return owner.uid;
    }
    return {};
  }

  void Check(const Pod& pod) {
    ++checked_;
    const auto& exempt = options_.exempt_runtime_classes;
    if (pod.spec.runtimeClassName &&
        std::find(exempt.begin(), exempt.end(), *pod.spec.runtimeClassName) != exempt.end()) {
      return;
    }
    const Violations violations = Evaluate(standard_, pod.metadata, pod.spec);
    if (violations.empty()) return;
    Offenders& who = found_[Reasons(violations)];
    if (who.count == 0 || pod.metadata.name < who.first) who.first = pod.metadata.name;
    ++who.count;
  }

  const ResourceStore& pods_;
  const LevelVersion standard_;
  const Options& options_;
  size_t total_ = 0;
  size_t checked_ = 0;
  std::map<std::string, Offenders> found_;  // by violations
};

}  // namespace

Warnings WarnAboutExistingPods(Context& ctx, const ResourceStore& pods, std::string_view ns,
                               const LevelVersion& standard, const Options& options,
                               const ExistingPodsLimits& limits) {
  const storage::SnapshotPtr snapshot = pods.cache() == nullptr ? nullptr : pods.cache()->Current();
  if (snapshot == nullptr) {
    return {"failed to list pods while checking new PodSecurity enforce level"};
  }
  ExistingPods existing(pods, standard, options);
  existing.EvaluatePod(ctx.WithTimeout(limits.time), *snapshot, ns, limits.pods);
  return existing.AddWarnings(ns);
}

}  // namespace cox::apiserver::pod_security
