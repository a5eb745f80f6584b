// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "coxswain/webhook_endpoint.h"

namespace cox {
namespace {

WebhookEndpoint From(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  static const std::vector<FlagInfo> known = WebhookEndpoint::Flags();
  return WebhookEndpoint::From(*Flags::Parse(known, pointers), {"system", "hook"});
}

TEST(WebhookPlaceTest, UsesTheServiceUnlessAUrlIsGiven) {
  const WebhookEndpoint endpoint = From({});
  EXPECT_EQ(endpoint.Options().address, ":9443");
  EXPECT_EQ(endpoint.Options().self_signed->secret.ToString(), "system/hook-cert");
  EXPECT_EQ(endpoint.Options().self_signed->names,
            (std::vector<std::string>{"hook.system.svc", "127.0.0.1"}));
  const auto config = endpoint.ClientConfig("/mutate");
  ASSERT_TRUE(config.service);
  EXPECT_EQ(config.service->namespace_ + "/" + config.service->name, "system/hook");
  EXPECT_EQ(config.service->path, "/mutate");
  EXPECT_FALSE(config.url);
}

TEST(WebhookPlaceTest, FlagsOverrideTheDefaults) {
  const WebhookEndpoint endpoint = From({"--webhook-bind-address=127.0.0.1:1", "--service", "a/b",
                                         "--webhook-url=https://127.0.0.1:1"});
  EXPECT_EQ(endpoint.Options().address, "127.0.0.1:1");
  EXPECT_EQ(endpoint.Options().self_signed->secret.ToString(), "a/b-cert");
  EXPECT_EQ(endpoint.ClientConfig("/x").url, "https://127.0.0.1:1/x");
  EXPECT_FALSE(endpoint.ClientConfig("/x").service);
}

}  // namespace
}  // namespace cox
