// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/endpoints/openapi/parameters.h"
#include "apiserver/endpoints/openapi/schema.h"
#include "apiserver/registry/served/served_set.h"

namespace cox::apiserver::openapi {

// What a request carries or an answer is made of.
enum class Media : uint8_t {
  kNone,
  kAny,          // */*: streams, proxied requests
  kObject,       // JSON, YAML, protobuf
  kList,         // the same, and as a stream of watch events
  kText,         // a log: plain text besides what objects come as
  kPatch,        // one of the patch types
  kCustomPatch,  // likewise, without strategic merge
  kJson,
  kKeys,  // application/jwk-set+json
};
// The media types of `media`, in the order documents show them.
std::span<const std::string_view> MediaTypes(Media media);

// One request that can be made at a path.
struct Operation {
  std::string_view method;  // "get"
  std::string id;           // "listCoreV1NamespacedPod"
  std::string description;
  std::string_view action;                // "list"; empty for documents of the server itself
  std::string_view group, version, kind;  // that it works on, if there is an action

  std::vector<const Parameter*> parameters;  // sorted by name
  Media consumes = Media::kNone;
  std::string_view body;  // definition; empty: none
  bool body_required = false;
  Media produces = Media::kObject;
  std::string_view answer;         // definition; empty: a string
  std::span<const int> ok_status;  // those that answer so
};

struct PathItem {
  std::string path;                          // "/api/v1/namespaces/{namespace}/pods/{name}"
  std::string document;                      // of OpenAPI v3 that it stands in: "api/v1"
  std::string tag;                           // "core_v1"
  std::string_view kind;                     // whose name {name} is
  std::vector<const Parameter*> parameters;  // of all its operations
  std::vector<Operation> operations;
};

// Paths of the API with their operations, made from the kinds that are served.
class Operations {
 public:
  // The paths of the server itself and of all groups. Borrows both arguments.
  Operations(const ServedSet& served, const Schemas& schemas);
  // The paths of one group. Borrows both arguments.
  Operations(const ServedGroup& group, const Schemas& schemas);
  // The paths of the server itself. Borrows `schemas`.
  explicit Operations(const Schemas& schemas);

  const std::vector<PathItem>& paths() const { return paths_; }

 private:
  void AddServer();
  void AddGroup(const ServedGroup& group);
  void Finish();
  void AddKind(const ServedKind& served);
  void AddCollection(const KindInfo& kind);
  void AddItem(const KindInfo& kind);
  void AddSubresource(const KindInfo& kind, const SubresourceInfo& sub);
  void AddConnect(const KindInfo& kind, const SubresourceInfo& sub);
  void AddWatch(const KindInfo& kind);
  void AddDocument(std::string path, std::string document, std::string tag, Operation operation);
  PathItem& NewPath(const KindInfo& kind, std::string path);
  Operation NewOperation(const KindInfo& kind, std::string_view method, std::string_view verb,
                         std::string_view action) const;
  std::vector<const Parameter*> OptionParameters(std::string_view kind);
  const Type* FindType(std::string_view group, std::string_view version,
                       std::string_view kind) const;
  std::string_view DefinitionOf(std::string_view group, std::string_view version,
                                std::string_view kind) const;

  const Schemas& schemas_;
  std::deque<Parameter> options_;  // made from the fields of options kinds
  std::vector<PathItem> paths_;
};

}  // namespace cox::apiserver::openapi
