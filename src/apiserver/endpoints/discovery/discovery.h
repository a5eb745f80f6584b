// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/registry/served/served_set.h"
#include "base/bytes.h"
#include "base/mutex.h"
#include "base/published.h"
#include "object/object.h"

namespace cox::apiserver {

// All discovery documents for one set of served kinds.
//
// Documents are Objects, so that they can be encoded as JSON, YAML or protobuf. The large
// aggregated documents, which every kubectl command requests, are also stored as JSON.
// Threads: constant after construction.
class DiscoveryDocuments {
 public:
  explicit DiscoveryDocuments(const ServedSet& served);

  // /api. `server_address` is the address ("10.0.0.1:6443") that clients should connect to.
  Object ApiVersions(std::string_view server_address) const;
  // /apis
  const Object& Groups() const { return groups_; }
  // /apis/<group>; null if the group is not served. The core group has no such document.
  const Object* Group(std::string_view group) const;
  // /api/v1 and /apis/<group>/<version>; null if it is not served.
  const Object* Resources(std::string_view group, std::string_view version) const;

  // Groups, versions and resources in one document: g=apidiscovery.k8s.io;v=v2;
  // as=APIGroupDiscoveryList. `json` is the encoding of `object`.
  struct Aggregated {
    Object object;
    Bytes json;
    std::string etag;  // including quotes; changes when `json` changes
  };
  const Aggregated& AggregatedCore() const { return aggregated_core_; }      // /api
  const Aggregated& AggregatedGroups() const { return aggregated_groups_; }  // /apis

  // The paths of groups and versions that `/` lists, sorted: "/api", "/api/v1", "/apis", "/apis/",
  // "/apis/apps", "/apis/apps/v1", ...
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::map<std::string, Object, std::less<>> group_;
  std::map<GroupVersion, Object> resources_;
  Object groups_;
  Aggregated aggregated_core_;
  Aggregated aggregated_groups_;
  std::vector<std::string> paths_;
};

// The discovery documents of the kinds that are currently served. They are built lazily, at the
// first request after a change, so that many changes between two requests cost one build. Requests
// in progress keep the documents that they started with.
//
// Threads: all methods may be called concurrently.
class Discovery {
 public:
  explicit Discovery(CurrentServedSet served) : served_(std::move(served)) {}

  std::shared_ptr<const DiscoveryDocuments> documents() const;

 private:
  struct Built {
    std::weak_ptr<const ServedSet> from;  // weak, so that documents do not keep removed kinds alive
    DiscoveryDocuments documents;
  };

  const CurrentServedSet served_;
  mutable Mutex building_;  // one request builds, the others wait for it
  mutable Published<const Built> built_;
};

// The contents of /version.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "36";
  // The emulated API version, and the oldest version to which the stored data can be rolled back.
  std::string emulation_major = "1";
  std::string emulation_minor = "36";
  std::string min_compatibility_major = "1";
  std::string min_compatibility_minor = "35";
  std::string git_version;
  std::string git_commit;
  std::string git_tree_state = "clean";
  std::string build_date;
  // Properties of the compiler. Clients expect these member names, which come from Go.
  std::string go_version;
  std::string compiler;
  std::string platform;  // "linux/amd64"
};
// Indented by two spaces like upstream's.
std::string VersionDocument(const VersionInfo& info);

// The document at `/`: all paths, sorted.
std::string PathsDocument(std::vector<std::string> paths);

}  // namespace cox::apiserver
