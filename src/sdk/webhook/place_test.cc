// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "coxswain/webhook_place.h"

namespace cox {
namespace {

WebhookPlace From(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  static const std::vector<FlagInfo> known = WebhookPlace::Flags();
  return WebhookPlace::From(*Flags::Parse(known, pointers), {"system", "hook"});
}

TEST(WebhookPlaceTest, IsTheServiceUnlessAUrlIsGiven) {
  const WebhookPlace place = From({});
  EXPECT_EQ(place.Options().address, ":9443");
  EXPECT_EQ(place.Options().self_signed->secret.ToString(), "system/hook-cert");
  EXPECT_EQ(place.Options().self_signed->names,
            (std::vector<std::string>{"hook.system.svc", "127.0.0.1"}));
  const auto config = place.ClientConfig("/mutate");
  ASSERT_TRUE(config.service);
  EXPECT_EQ(config.service->namespace_ + "/" + config.service->name, "system/hook");
  EXPECT_EQ(config.service->path, "/mutate");
  EXPECT_FALSE(config.url);
}

TEST(WebhookPlaceTest, FlagsMoveIt) {
  const WebhookPlace place = From({"--webhook-bind-address=127.0.0.1:1", "--service", "a/b",
                                   "--webhook-url=https://127.0.0.1:1"});
  EXPECT_EQ(place.Options().address, "127.0.0.1:1");
  EXPECT_EQ(place.Options().self_signed->secret.ToString(), "a/b-cert");
  EXPECT_EQ(place.ClientConfig("/x").url, "https://127.0.0.1:1/x");
  EXPECT_FALSE(place.ClientConfig("/x").service);
}

}  // namespace
}  // namespace cox
