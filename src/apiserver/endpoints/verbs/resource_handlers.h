// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "base/metrics.h"

namespace cox::apiserver {

class NodeConnector;

// The verbs of the API on resources. Each verb parses its options, calls admission and the
// registry, and responds in a media type that the client accepts. If a verb returns an error, it
// has not sent a response: HandleResource sends it.
//
// Threads: All methods may be called concurrently. They block for storage, except Watch after it
// has started.
class ResourceHandlers {
 public:
  // Watches without a timeout last between `min_watch` and twice as long.
  static constexpr std::chrono::seconds kMinWatch{1800};
  ResourceHandlers(const Registry& registry, const AdmissionChain& admission,
                   std::chrono::seconds min_watch = kMinWatch)
      : registry_(registry), admission_(admission), min_watch_(min_watch) {}

  // read.cc
  Status Get(Call& call, const ServedResource& resource);
  Status List(Call& call, const ServedResource& resource);
  // watch.cc
  Status Watch(Call& call, const ServedResource& resource);
  // write.cc
  Status Create(Call& call, const ServedResource& resource);
  Status Update(Call& call, const ServedResource& resource);
  // patch.cc
  Status Patch(Call& call, const ServedResource& resource);
  // delete.cc
  Status Delete(Call& call, const ServedResource& resource);
  Status DeleteCollection(Call& call, const ServedResource& resource);

  const Registry& registry() const { return registry_; }
  const AdmissionChain& admission() const { return admission_; }
  // Connects to kubelets, Pods and Services; null: connections are not available. Must outlive the
  // calls.
  NodeConnector* connector() const { return connector_; }
  void set_connector(NodeConnector* connector) { connector_ = connector; }
  // Receives the seconds until a watch has sent its initial events, with the labels group, version,
  // resource and scope; null: they are not recorded. Must outlive the calls.
  void set_watch_list_seconds(HistogramVec* seconds) { watch_list_seconds_ = seconds; }

 private:
  // write.cc: the common part of update and patch. Makes `change`, calls admission, and responds.
  Status Write(Call& call, const ServedResource& resource, const WriteContext& w,
               const Accepted& accepted, ResourceStore::Change change, std::string uid,
               bool may_create);

  const Registry& registry_;
  const AdmissionChain& admission_;
  const std::chrono::seconds min_watch_;
  NodeConnector* connector_ = nullptr;
  HistogramVec* watch_list_seconds_ = nullptr;
};

// A page of a list, read from the watch cache or from storage.
struct ListPage {
  std::vector<storage::EntryPtr> entries;
  storage::Revision revision = 0;
  std::string continue_token;
  std::optional<int64_t> remaining;
};
Result<ListPage> ReadPage(Context& ctx, const ServedResource& resource, std::string_view ns,
                          const ReadOptions& options);
// Sends or returns the error of ReadPage. If the continue token has expired, the response contains
// a token for the rest of the list at the latest revision.
Status RespondPageError(Call& call, const ServedResource& resource, const ReadOptions& options,
                        const Status& error);

// The namespace and name in a storage key.
struct KeyParts {
  std::string_view ns, name;
};
KeyParts SplitKey(const ServedResource& resource, std::string_view key);

// Checks the metadata of a written object against the path and sets missing fields. A created
// object needs no name.
Status MatchMetadata(const Call& call, const ServedResource& resource, meta::v1::ObjectMeta& meta,
                     bool creating);

// The context of a write by this call, with the current time.
WriteContext WriteContextOf(Call& call, const ServedResource& resource, bool dry_run);

// Mutating admission of a write that replaces `old` by `hub`. Null: `hub` is created.
Status Admit(const AdmissionChain& admission, Call& call, const ServedResource& resource,
             bool dry_run, Object& hub, const Object* old);
// Validating admission for the registry, with the same plugins.
ValidateFunc ValidatingAdmission(const AdmissionChain& admission, Call& call,
                                 const ServedResource& resource, Operation operation, bool dry_run);

// Mutating and validating admission of an object that is sent to a subresource and not stored: a
// Binding, an Eviction, a Scale, the options of an exec.
struct SubresourceAdmission {
  const ServedResource& resource;
  std::string_view subresource;  // never empty
  Operation operation;
  bool dry_run = false;
  const Object* old = nullptr;
};
Status AdmitSubresource(const AdmissionChain& admission, Call& call,
                        const SubresourceAdmission& request, Object& object);

}  // namespace cox::apiserver
