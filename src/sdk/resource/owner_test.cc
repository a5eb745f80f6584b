// SPDX-License-Identifier: Apache-2.0
#include "coxswain/owner.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"

namespace cox {
namespace {

using apps::v1::Deployment;
using core::v1::ConfigMap;
using core::v1::Namespace;

template <class T>
T Named(std::string ns, std::string name, std::string uid = "u") {
  T object;
  object.metadata.namespace_ = std::move(ns);
  object.metadata.name = std::move(name);
  object.metadata.uid = std::move(uid);
  return object;
}

TEST(OwnerTest, ControllerReferenceIsSetOnce) {
  const auto owner = Named<Deployment>("ns", "web", "u1");
  auto map = Named<ConfigMap>("ns", "settings");
  EXPECT_EQ(ControllerOf(map), nullptr);
  ASSERT_TRUE(SetControllerReference(owner, map).ok());
  ASSERT_TRUE(SetControllerReference(owner, map).ok());
  ASSERT_EQ(map.metadata.ownerReferences.size(), 1u);
  const meta::v1::OwnerReference& reference = *ControllerOf(map);
  EXPECT_EQ(reference.apiVersion, "apps/v1");
  EXPECT_EQ(reference.kind, "Deployment");
  EXPECT_EQ(reference.name, "web");
  EXPECT_EQ(reference.uid, "u1");
  EXPECT_EQ(reference.controller, true);
  EXPECT_EQ(reference.blockOwnerDeletion, true);
  EXPECT_TRUE(IsControlledBy(map, owner));
  EXPECT_FALSE(IsControlledBy(map, Named<Deployment>("ns", "web", "u2"))) << "a namesake";
}

TEST(OwnerTest, SecondControllerIsRejectedButSecondOwnerIsNot) {
  auto map = Named<ConfigMap>("ns", "settings");
  ASSERT_TRUE(SetControllerReference(Named<Deployment>("ns", "web", "u1"), map).ok());
  const auto other = Named<Deployment>("ns", "api", "u2");
  const Status refused = SetControllerReference(other, map);
  EXPECT_TRUE(refused.Is(Reason::kAlreadyExists));
  EXPECT_NE(refused.message().find("Deployment \"web\""), std::string::npos);
  ASSERT_TRUE(SetOwnerReference(other, map).ok());
  ASSERT_EQ(map.metadata.ownerReferences.size(), 2u);
  EXPECT_EQ(map.metadata.ownerReferences[1].controller, std::nullopt);
  EXPECT_EQ(map.metadata.ownerReferences[1].blockOwnerDeletion, std::nullopt);
  EXPECT_EQ(ControllerOf(map)->name, "web");
}

TEST(OwnerTest, RecreatedOwnerReplacesItsReference) {
  auto map = Named<ConfigMap>("ns", "settings");
  ASSERT_TRUE(SetControllerReference(Named<Deployment>("ns", "web", "u1"), map).ok());
  map.metadata.ownerReferences[0].apiVersion = "apps/v1beta1";
  ASSERT_TRUE(SetControllerReference(Named<Deployment>("ns", "web", "u2"), map).ok());
  ASSERT_EQ(map.metadata.ownerReferences.size(), 1u);
  EXPECT_EQ(map.metadata.ownerReferences[0].uid, "u2");
  EXPECT_EQ(map.metadata.ownerReferences[0].apiVersion, "apps/v1");
}

TEST(OwnerTest, RejectsOwnersThatTheGarbageCollectorWouldNotFind) {
  auto map = Named<ConfigMap>("ns", "settings");
  auto space = Named<Namespace>("", "x");
  EXPECT_TRUE(
      SetControllerReference(Named<Deployment>("other", "web"), map).Is(Reason::kBadRequest));
  EXPECT_TRUE(SetOwnerReference(Named<Deployment>("ns", "web"), space).Is(Reason::kBadRequest));
  EXPECT_TRUE(SetOwnerReference(Named<Deployment>("ns", "web", ""), map).Is(Reason::kBadRequest));
  EXPECT_TRUE(map.metadata.ownerReferences.empty());
  EXPECT_TRUE(SetOwnerReference(space, map).ok()) << "of no namespace: may own anything";
}

}  // namespace
}  // namespace cox
