// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/cluster_impl.h"

// The parts of TestCluster that depend on the client library.
namespace cox::testkit {

Client& TestCluster::client() { return impl_->AdminClient(); }

std::unique_ptr<Client> TestCluster::ClientFor(std::string user, std::vector<std::string> groups) {
  return MakeClient(TransportFor(std::move(user), std::move(groups)));
}

Client& TestCluster::Impl::AdminClient() {
  std::shared_ptr<Transport> transport = AdminTransport();
  MutexLock lock(mu);
  if (admin_client == nullptr) admin_client = MakeClient(std::move(transport));
  return *admin_client;
}

}  // namespace cox::testkit
