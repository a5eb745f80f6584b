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

// The objects that names are made of.
//
// Threads: all methods may be called concurrently, and none waits.
class Source {
 public:
  virtual ~Source() = default;
  // False until all objects are known: then nobody can say that a name does not exist.
  virtual bool Complete() const = 0;
  virtual bool HasNamespace(const std::string& ns) const = 0;
  virtual ServicePtr Service(const std::string& ns, const std::string& name) const = 0;
  virtual std::vector<SlicePtr> Slices(const std::string& ns, const std::string& service) const = 0;
  // By an address in the form of Kubernetes; headless Services' endpoints only.
  virtual std::vector<ServicePtr> ServicesAt(const std::string& ip) const = 0;
  virtual std::vector<SlicePtr> SlicesAt(const std::string& ip) const = 0;
};

// From the informers of a cache.
std::unique_ptr<Source> MakeCacheSource(Cache& cache);

}  // namespace cox::dns
