// SPDX-License-Identifier: Apache-2.0
#include "controllers/identity/serviceaccount/serviceaccount_controller.h"

#include "harness.h"

namespace cox::controllers {
namespace {

using core::v1::ServiceAccount;
using testkit::WaitFor;

class ServiceAccountControllerTest : public ControllerTest {};

TEST_F(ServiceAccountControllerTest, EveryNamespaceHasADefaultAccount) {
  CreateNamespace("before");
  Start({AddServiceAccountController});
  EXPECT_TRUE(WaitFor<ServiceAccount>(*ctx, client(), {"before", "default"}).ok());
  EXPECT_TRUE(WaitFor<ServiceAccount>(*ctx, client(), {"kube-system", "default"}).ok());
  CreateNamespace("after");
  EXPECT_TRUE(WaitFor<ServiceAccount>(*ctx, client(), {"after", "default"}).ok());
}

TEST_F(ServiceAccountControllerTest, DeletedAccountIsRecreated) {
  Start({AddServiceAccountController});
  const auto first = WaitFor<ServiceAccount>(*ctx, client(), {"default", "default"});
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(client().Delete<ServiceAccount>(*ctx, {"default", "default"}).ok());
  EXPECT_TRUE(WaitFor<ServiceAccount>(*ctx, client(), {"default", "default"},
                                      [&](const ServiceAccount& again) {
                                        return again.metadata.uid != first->metadata.uid;
                                      })
                  .ok());
}

TEST_F(ServiceAccountControllerTest, TerminatingNamespaceGetsNoAccount) {
  CreateNamespace("going");
  ASSERT_TRUE(client().Delete<core::v1::Namespace>(*ctx, {"", "going"}).ok());
  Start({AddServiceAccountController});
  CreateNamespace("zz-last");
  ASSERT_TRUE(WaitFor<ServiceAccount>(*ctx, client(), {"zz-last", "default"}).ok());
  EXPECT_FALSE(Exists<ServiceAccount>({"going", "default"}));
}

}  // namespace
}  // namespace cox::controllers
