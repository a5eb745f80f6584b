// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/deny_service_external_ips/deny_service_external_ips.h"

#include <algorithm>
#include <set>

#include "api/core/v1.h"

namespace cox::apiserver {
namespace {

using core::v1::Service;

// Rejects new external IPs of Services, by which a user could redirect traffic for any address to
// own Pods (CVE-2020-8554). Existing external IPs may be kept and removed.
class DenyServiceExternalIPs final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "DenyServiceExternalIPs"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.object == nullptr || !request.subresource.empty()) return {};
    const Service* service = request.object->As<Service>();
    if (service == nullptr) return {};
    std::set<std::string> had;
    if (request.old != nullptr) {
      const auto& ips = request.old->As<Service>()->spec.externalIPs;
      had.insert(ips.begin(), ips.end());
    }
    const auto& ips = service->spec.externalIPs;
    if (std::all_of(ips.begin(), ips.end(),
                    [&](const std::string& ip) { return had.contains(ip); })) {
      return {};
    }
    return ForbiddenError(request.resource.resource(), request.name,
                          "Use of external IPs is denied by admission control");
  }
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewDenyServiceExternalIPs(const AdmissionParts&) {
  return std::make_unique<DenyServiceExternalIPs>();
}

}  // namespace cox::apiserver
