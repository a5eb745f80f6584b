// SPDX-License-Identifier: Apache-2.0
#include "testkit/test_cluster.h"

#include <utility>

#include "base/check.h"
#include "testkit/cluster/cluster_impl.h"

namespace cox::testkit {

Result<std::unique_ptr<TestCluster>> TestCluster::Start(TestClusterOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  COX_RETURN_IF_ERROR(impl->Prepare());
  COX_RETURN_IF_ERROR(impl->StartServer());
  return std::make_unique<TestCluster>(std::move(impl));
}

TestCluster::TestCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TestCluster::~TestCluster() = default;

Context& TestCluster::context() { return impl_->context; }
Clock& TestCluster::clock() { return impl_->clock; }
TestClock& TestCluster::test_clock() {
  auto* clock = dynamic_cast<TestClock*>(&impl_->clock);
  COX_CHECK(clock != nullptr) << "this cluster's time is real";
  return *clock;
}
void TestCluster::Advance(Clock::Duration by) { test_clock().Advance(by); }

std::shared_ptr<Transport> TestCluster::transport() { return impl_->AdminTransport(); }
std::shared_ptr<Transport> TestCluster::TransportFor(std::string user,
                                                     std::vector<std::string> groups) {
  return impl_->TransportWith(impl_->AddToken(std::move(user), std::move(groups)));
}

Config TestCluster::config() { return impl_->ConfigWith(impl_->AdminToken()); }
Config TestCluster::ConfigFor(std::string user, std::vector<std::string> groups) {
  return impl_->ConfigWith(impl_->AddToken(std::move(user), std::move(groups)));
}
std::string TestCluster::kubeconfig() { return impl_->Kubeconfig(); }
uint16_t TestCluster::port() const { return impl_->port; }

Status TestCluster::StopServer(Down how) { return impl_->StopServer(how); }
Status TestCluster::StartServer() { return impl_->StartServer(); }
Status TestCluster::Restart(Down how) {
  COX_RETURN_IF_ERROR(impl_->StopServer(how));
  return impl_->StartServer();
}

storage::Store& TestCluster::store() { return *impl_->store; }

apiserver::Registry& TestCluster::registry() { return impl_->life->server->registry(); }

Status TestCluster::CompactHistory() {
  Context& ctx = impl_->context;
  COX_RETURN_IF_ERROR(impl_->StopServer(Down::kBreak));
  COX_ASSIGN_OR_RETURN(const storage::Revision now, impl_->store->CurrentRevision(ctx));
  COX_RETURN_IF_ERROR(impl_->store->Compact(ctx, now));
  return impl_->StartServer();
}

std::string TestCluster::metrics() {
  return impl_->life == nullptr ? std::string() : impl_->life->metrics.Render();
}

std::vector<MetricDescription> TestCluster::DescribeMetrics() {
  if (impl_->life == nullptr) return {};
  return impl_->life->metrics.Describe();
}

}  // namespace cox::testkit
