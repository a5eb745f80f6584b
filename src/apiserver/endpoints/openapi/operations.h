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

// The media types of a request body or response.
enum class Media : uint8_t {
  kNone,
  kAny,          // */*: streams and proxied requests
  kObject,       // JSON, YAML, protobuf
  kList,         // like kObject, also as a stream of watch events
  kText,         // a log: plain text in addition to the types of kObject
  kPatch,        // one of the patch types
  kCustomPatch,  // like kPatch, without strategic merge
  kJson,
  kKeys,  // application/jwk-set+json
};
// The media types of `media`, in the order used in the documents.
std::span<const std::string_view> MediaTypes(Media media);

// One operation of a path.
struct Operation {
  std::string_view method;  // "get"
  std::string id;           // "listCoreV1NamespacedPod"
  std::string description;
  std::string_view action;                // "list"; empty for documents of the server itself
  std::string_view group, version, kind;  // the operand, if there is an action

  std::vector<const Parameter*> parameters;  // sorted by name
  Media consumes = Media::kNone;
  std::string_view body;  // definition; empty: no body
  bool body_required = false;
  Media produces = Media::kObject;
  std::string_view answer;         // definition; empty: a string
  std::span<const int> ok_status;  // status codes of successful responses
};

struct PathItem {
  std::string path;                          // "/api/v1/namespaces/{namespace}/pods/{name}"
  std::string document;                      // the OpenAPI v3 document that contains it: "api/v1"
  std::string tag;                           // "core_v1"
  std::string_view kind;                     // the kind that {name} refers to
  std::vector<const Parameter*> parameters;  // common to all its operations
  std::vector<Operation> operations;
};

// The paths of the API with their operations, built from the served kinds.
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
  std::deque<Parameter> options_;  // built from the fields of options kinds
  std::vector<PathItem> paths_;
};

}  // namespace cox::apiserver::openapi
