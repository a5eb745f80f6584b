// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "testkit/cluster/cluster_impl.h"
#include "testkit/cluster/lagging_store.h"

namespace cox::testkit {
namespace {

class SecondServerImpl final : public SecondServer {
 public:
  explicit SecondServerImpl(TestCluster::Impl& cluster)
      : cluster_(cluster), store_(*cluster.store) {}
  ~SecondServerImpl() override {
    slot_->Clear();
    if (life_ != nullptr) {
      life_->connections.Stop(Status::Unavailable("the connection to the second server broke"));
    }
  }

  Status Start() {
    apiserver::ServerOptions options = cluster_.MakeOptions();
    options.listen_on_network = false;
    COX_ASSIGN_OR_RETURN(life_, cluster_.StartOn(store_, std::move(options)));
    slot_->Put(life_->server->handler(), life_->connections);
    transport_ = std::make_shared<ClusterTransport>(cluster_.context, slot_,
                                                    "Bearer " + cluster_.AdminToken().Reveal());
    return {};
  }

  std::shared_ptr<Transport> transport() override { return transport_; }
  void SetLagging(bool lagging) override { store_.SetLagging(lagging); }

 private:
  TestCluster::Impl& cluster_;
  LaggingStore store_;
  const std::shared_ptr<ServerSlot> slot_ = std::make_shared<ServerSlot>();
  std::shared_ptr<Transport> transport_;
  std::unique_ptr<ServerLife> life_;  // last: it uses the store
};

}  // namespace

Result<std::unique_ptr<SecondServer>> TestCluster::AddServer() {
  auto second = std::make_unique<SecondServerImpl>(*impl_);
  COX_RETURN_IF_ERROR(second->Start());
  return std::unique_ptr<SecondServer>(std::move(second));
}

}  // namespace cox::testkit
