// SPDX-License-Identifier: Apache-2.0
#include "coxswain/subresources.h"

#include "sdk/client/requests.h"

namespace cox {
namespace {

using Verb = Operation::Verb;

template <class T>
Result<T> Take(Result<Object> object) {
  if (!object.ok()) return object.status();
  T* inner = object->As<T>();
  if (inner != nullptr) return std::move(*inner);
  return Status::Internal("the server answered with a " + object->gvk().ToString());
}

// POSTs `body` to a subresource; the API requires the object's name in its metadata.
template <class T>
Result<Object> Post(Context& ctx, Client& client, const Resource& resource, const ObjectKey& key,
                    std::string subresource, T body) {
  body.metadata.name = key.name;
  body.metadata.namespace_ = key.ns;
  const Object object = Object::Of(std::move(body));
  return client.Execute(ctx, {.verb = Verb::kCreate,
                              .resource = resource,
                              .key = key,
                              .subresource = std::move(subresource),
                              .body = &object,
                              .answer = &T::kKind});
}

}  // namespace

Result<autoscaling::v1::Scale> GetScale(Context& ctx, Client& client, const Resource& resource,
                                        const ObjectKey& key) {
  return Take<autoscaling::v1::Scale>(
      client.Execute(ctx, {.verb = Verb::kGet,
                           .resource = resource,
                           .key = key,
                           .subresource = "scale",
                           .answer = &autoscaling::v1::Scale::kKind}));
}

Result<autoscaling::v1::Scale> UpdateScale(Context& ctx, Client& client, const Resource& resource,
                                           autoscaling::v1::Scale scale,
                                           const WriteOptions& options) {
  const ObjectKey key = KeyOf(scale);
  const Object object = Object::Of(std::move(scale));
  return Take<autoscaling::v1::Scale>(
      client.Execute(ctx, {.verb = Verb::kUpdate,
                           .resource = resource,
                           .key = key,
                           .subresource = "scale",
                           .body = &object,
                           .write = &options,
                           .answer = &autoscaling::v1::Scale::kKind}));
}

Status Evict(Context& ctx, Client& client, const ObjectKey& pod, const DeleteOptions& options) {
  policy::v1::Eviction eviction;
  if (std::optional<meta::v1::DeleteOptions> said = sdk::ToApi(options)) {
    eviction.deleteOptions.emplace() = std::move(*said);
  }
  return Post(ctx, client, Resource::Of<core::v1::Pod>(), pod, "eviction", std::move(eviction))
      .status();
}

Result<authentication::v1::TokenRequest> CreateToken(Context& ctx, Client& client,
                                                     const ObjectKey& service_account,
                                                     authentication::v1::TokenRequestSpec spec) {
  authentication::v1::TokenRequest request;
  request.spec = std::move(spec);
  return Take<authentication::v1::TokenRequest>(Post(ctx, client,
                                                     Resource::Of<core::v1::ServiceAccount>(),
                                                     service_account, "token", std::move(request)));
}

Status Bind(Context& ctx, Client& client, const ObjectKey& pod, const std::string& node) {
  core::v1::Binding binding;
  binding.target.kind = "Node";
  binding.target.name = node;
  return Post(ctx, client, Resource::Of<core::v1::Pod>(), pod, "binding", std::move(binding))
      .status();
}

}  // namespace cox
