// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "api/discovery/v1.h"
#include "apiserver/registry/kinds/discovery/endpoint_slice_validation.h"
#include "apiserver/registry/kinds/kinds.h"
#include "object/type/equal.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

namespace dv = discovery::v1;
using dv::EndpointSlice;

// A list in a table, shortened to three items: "80,443,8080 + 2 more...".
class ShortList {
 public:
  void Add(const std::string& item) {
    if (count_ < kShown) text_ += (count_ == 0 ? "" : ",") + item;
    ++count_;
  }
  std::string Text() const {
    if (count_ > kShown) return text_ + " + " + std::to_string(count_ - kShown) + " more...";
    return text_.empty() ? "<unset>" : text_;
  }

 private:
  static constexpr size_t kShown = 3;
  std::string text_;
  size_t count_ = 0;
};

bool SameContent(const EndpointSlice& a, const EndpointSlice& b) {
  EndpointSlice x = a, y = b;
  x.metadata = {};
  y.metadata = {};
  if (!DeepEqual(x, y)) return false;
  // Labels determine the service of the endpoints, so they count as content.
  x.metadata.labels = a.metadata.labels;
  y.metadata.labels = b.metadata.labels;
  return DeepEqual(x.metadata, y.metadata);
}

// Topology is a field of v1beta1: v1 keeps stored values, but accepts no new ones.
void DropNewTopology(EndpointSlice& slice, const EndpointSlice* old) {
  for (dv::Endpoint& endpoint : slice.endpoints) {
    if (endpoint.deprecatedTopology.empty()) continue;
    bool in_use = false;
    if (old != nullptr) {
      for (const dv::Endpoint& before : old->endpoints) in_use |= DeepEqual(before, endpoint);
    }
    if (!in_use) endpoint.deprecatedTopology.clear();
  }
}

class EndpointSliceStrategy final : public StrategyOf<EndpointSlice> {
 public:
  std::string_view storage_prefix() const override { return "endpointslices"; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "AddressType", .type = "string"},
        {.name = "Ports", .type = "string"},
        {.name = "Endpoints", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(EndpointSlice& object) const override {
    for (dv::EndpointPort& port : object.ports) {
      if (!port.name) port.name = "";
      if (!port.protocol) port.protocol = "TCP";
    }
  }
  void PrepareCreate(const WriteContext&, EndpointSlice& object) const override {
    object.metadata.generation = 1;
    DropNewTopology(object, nullptr);
  }
  void PrepareUpdate(const WriteContext&, EndpointSlice& object,
                     const EndpointSlice& old) const override {
    DropNewTopology(object, &old);
    object.metadata.generation = old.metadata.generation + (SameContent(object, old) ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const EndpointSlice& object) const override {
    return ValidateEndpointSlice(object);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const EndpointSlice& object,
                             const EndpointSlice& old) const override {
    return ValidateEndpointSliceUpdate(object, old);
  }
  Warnings Warn(const WriteContext&, const EndpointSlice& object,
                const EndpointSlice* old) const override {
    Warnings warnings;
    if (old == nullptr && object.addressType == "FQDN") {
      warnings.push_back("spec.addressType: FQDN endpoints are deprecated");
    }
    if (object.addressType == "FQDN") return warnings;
    for (size_t i = 0; i < object.endpoints.size(); ++i) {
      const FieldPath path = FieldPath("endpoints").Index(i).Child("addresses");
      for (size_t j = 0; j < object.endpoints[i].addresses.size(); ++j) {
        for (std::string& warning :
             validation::GetWarningsForIP(path.Index(j), object.endpoints[i].addresses[j])) {
          warnings.push_back(std::move(warning));
        }
      }
    }
    return warnings;
  }
  Cells RowOf(const EndpointSlice& object, const Time& now) const override {
    ShortList ports, addresses;
    for (const dv::EndpointPort& port : object.ports) {
      ports.Add(port.port ? std::to_string(*port.port) : port.name.value_or("*"));
    }
    for (const dv::Endpoint& endpoint : object.endpoints) {
      for (const std::string& address : endpoint.addresses) addresses.Add(address);
    }
    return {object.metadata.name, object.addressType, ports.Text(), addresses.Text(),
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

void AddDiscoveryKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(std::make_unique<EndpointSliceStrategy>());
}

}  // namespace cox::apiserver
