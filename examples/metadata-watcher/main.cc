// SPDX-License-Identifier: Apache-2.0
// Counts the objects of any resource by namespace and label, using only their metadata.
#include <map>
#include <set>
#include <utility>

#include "coxswain/manager.h"

namespace {

using cox::Status;
using Metadata = cox::meta::v1::PartialObjectMetadata;

// "apps/v1/Deployment", "v1/Pod".
cox::Result<cox::GroupVersionKind> ParseKind(const std::string& text) {
  const size_t slash = text.rfind('/');
  if (slash == text.npos)
    return Status::BadRequest("--watch=" + text + ": want v1/Pod, or the like");
  return cox::GroupVersionKind::Parse(text.substr(0, slash), text.substr(slash + 1));
}

// Number of objects by namespace and label value. Remembers the counted value of each object, so
// that counting it again changes nothing.
class Counts {
 public:
  Counts(cox::MetricsRegistry& metrics, std::string label)
      : label_(std::move(label)),
        gauge_(metrics.AddGaugeVec(
            {.name = "watched_objects", .help = "Objects by namespace and value of the label."},
            {"namespace", "value"})) {}

  // `object` is null if it was deleted.
  void See(const cox::Context& ctx, const cox::ObjectKey& key, const Metadata* object) {
    cox::MutexLock lock(mu_);
    const auto known = values_.find(key);
    const std::string* value = object == nullptr ? nullptr : object->metadata.labels.Get(label_);
    const std::string now = value == nullptr ? "" : *value;
    if (known != values_.end()) {
      if (object != nullptr && known->second == now) return;
      gauge_.With({key.ns, known->second}).Dec();
      values_.erase(known);
    }
    if (object != nullptr) {
      gauge_.With({key.ns, now}).Inc();
      values_.emplace(key, now);
    }
    COX_INFO(ctx.log(), object == nullptr ? "Gone" : "Seen", {label_, now},
             {"objects", values_.size()});
  }

 private:
  const std::string label_;
  cox::GaugeVec& gauge_;
  cox::Mutex mu_;
  std::map<cox::ObjectKey, std::string> values_ COX_GUARDED_BY(mu_);
};

Status Setup(cox::Manager& manager, const cox::Flags& flags) {
  COX_ASSIGN_OR_RETURN(const cox::GroupVersionKind kind, ParseKind(flags.Get("watch")));
  cox::Context ctx = manager.context().WithTimeout(std::chrono::seconds(30));
  COX_ASSIGN_OR_RETURN(const cox::Resource resource, manager.client().Discover(ctx, kind));
  const auto objects = cox::Lister<Metadata>(manager.cache().GetMetadata(resource));
  auto counts = std::make_shared<Counts>(manager.metrics(), flags.Get("label"));
  return cox::ControllerBuilder(manager, resource)
      .OnlyMetadata()
      .With({.needs_leader_election = false})  // every replica may count
      .Complete(
          [=](cox::Context& run, const cox::ObjectKey& key) -> cox::Result<cox::ReconcileResult> {
            counts->See(run, key, objects.Get(key).get());
            return cox::ReconcileResult::Done();
          });
}

}  // namespace

int main(int argc, char** argv) {
  return cox::RunOperator(
      argc, argv,
      {.name = "metadata-watcher",
       .description = "counts the objects of a kind by the value of a label",
       .flags = {{"What", "watch", "kind", "v1/Pod", "which kind, as apps/v1/Deployment"},
                 {"What", "label", "name", "app", "by which label the objects are counted"}}},
      Setup);
}
