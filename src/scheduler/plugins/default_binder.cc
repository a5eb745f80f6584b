// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "DefaultBinder";

// Creates the Binding of a Pod.
class DefaultBinder final : public BindPlugin {
 public:
  explicit DefaultBinder(Client* client) : client_(client) {}
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo&, Signature&) const override { return true; }
  PluginStatus Bind(Context& ctx, const PodInfo& pod, const std::string& node) override {
    if (client_ == nullptr) return PluginStatus::Error(kName, "there is no client to bind with");
    const ObjectKey key = KeyOf(*pod.pod);
    core::v1::Binding binding;
    binding.metadata.name = key.name;
    binding.metadata.namespace_ = key.ns;
    binding.metadata.uid = pod.uid();  // precondition: not another Pod with the same name
    binding.target.kind = "Node";
    binding.target.name = node;
    const Object object = Object::Of(std::move(binding));
    const Status status = client_
                              ->Execute(ctx, {.verb = Operation::Verb::kCreate,
                                              .resource = Resource::Of<core::v1::Pod>(),
                                              .key = key,
                                              .subresource = "binding",
                                              .body = &object,
                                              .answer = &core::v1::Binding::kKind})
                              .status();
    return status.ok() ? PluginStatus() : PluginStatus::Error(kName, status.message());
  }

 private:
  Client* const client_;
};

}  // namespace

std::unique_ptr<Plugin> NewDefaultBinder(const PluginHandle& handle) {
  return std::make_unique<DefaultBinder>(handle.client);
}

}  // namespace cox::scheduler
