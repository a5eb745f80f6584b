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

// All discovery documents of one state of the API.
//
// Documents are Objects, so that they can be written as JSON, YAML or protobuf like any other. The
// large aggregated ones, which every kubectl call asks for, are kept as JSON too.
// Threads: constant after construction.
class DiscoveryDocuments {
 public:
  explicit DiscoveryDocuments(const ServedSet& served);

  // /api. `server_address` ("10.0.0.1:6443") is where the client should talk to.
  Object ApiVersions(std::string_view server_address) const;
  // /apis
  const Object& Groups() const { return groups_; }
  // /apis/<group>; null if there is none. The core group has no such document.
  const Object* Group(std::string_view group) const;
  // /api/v1 and /apis/<group>/<version>; null if it is not served.
  const Object* Resources(std::string_view group, std::string_view version) const;

  // Groups, versions and resources in one answer: g=apidiscovery.k8s.io;v=v2;
  // as=APIGroupDiscoveryList. `json` is what EncodeObject makes of `object`.
  struct Aggregated {
    Object object;
    Bytes json;
    std::string etag;  // with its quotes; changes when `json` does
  };
  const Aggregated& AggregatedCore() const { return aggregated_core_; }      // /api
  const Aggregated& AggregatedGroups() const { return aggregated_groups_; }  // /apis

  // The paths of groups and versions for `/`, sorted: "/api", "/api/v1", "/apis", "/apis/",
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

// The discovery documents of what is served now. They are built when somebody asks for the first
// time after a change: a change costs nothing, and a thousand changes before the next request cost
// as much as one. Requests under way keep the documents that they began with.
//
// Threads: all methods may be called concurrently.
class Discovery {
 public:
  explicit Discovery(CurrentServedSet served) : served_(std::move(served)) {}

  std::shared_ptr<const DiscoveryDocuments> documents() const;

 private:
  struct Built {
    std::weak_ptr<const ServedSet> from;  // weak: the documents do not keep kinds that are gone
    DiscoveryDocuments documents;
  };

  const CurrentServedSet served_;
  mutable Mutex building_;  // one request builds, others wait for it
  mutable Published<const Built> built_;
};

// What /version says.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "36";
  // The API level that is emulated, and the oldest one the stored data can go back to.
  std::string emulation_major = "1";
  std::string emulation_minor = "36";
  std::string min_compatibility_major = "1";
  std::string min_compatibility_minor = "35";
  std::string git_version;
  std::string git_commit;
  std::string git_tree_state = "clean";
  std::string build_date;
  // Of the compiler; clients expect the Go names of these members to be there.
  std::string go_version;
  std::string compiler;
  std::string platform;  // "linux/amd64"
};
// Indented by two spaces, as upstream's is.
std::string VersionDocument(const VersionInfo& info);

// The document of `/`: all paths, sorted.
std::string PathsDocument(std::vector<std::string> paths);

}  // namespace cox::apiserver
