// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "coxswain/cache.h"

namespace cox::dns {

using ServicePtr = std::shared_ptr<const core::v1::Service>;
using SlicePtr = std::shared_ptr<const discovery::v1::EndpointSlice>;

// The objects that the zone's names are derived from.
//
// Threads: all methods may be called concurrently, and none blocks.
class Source {
 public:
  virtual ~Source() = default;
  // False until all objects are listed: before that, a missing name may still exist.
  virtual bool Complete() const = 0;
  virtual bool HasNamespace(const std::string& ns) const = 0;
  virtual ServicePtr Service(const std::string& ns, const std::string& name) const = 0;
  virtual std::vector<SlicePtr> Slices(const std::string& ns, const std::string& service) const = 0;
  // Lookups by IP address, as formatted in objects. SlicesAt returns slices of headless Services
  // only.
  virtual std::vector<ServicePtr> ServicesAt(const std::string& ip) const = 0;
  virtual std::vector<SlicePtr> SlicesAt(const std::string& ip) const = 0;
};

// Uses the informers of a cache.
std::unique_ptr<Source> MakeCacheSource(Cache& cache);

}  // namespace cox::dns
