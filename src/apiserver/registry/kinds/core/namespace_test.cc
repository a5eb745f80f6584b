// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

TEST(NamespaceTest, CreateSetsActivePhaseAndNameLabel) {
  StrategyHarness namespaces(NewNamespaceStrategy());
  auto made = namespaces.Create(
      R"({"metadata":{"name":"a","labels":{"kubernetes.io/metadata.name":"other"}},
          "status":{"phase":"Terminating"}})");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.Text(), R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  EXPECT_EQ(*made.object.object_meta()->labels.Get("kubernetes.io/metadata.name"), "a");
  EXPECT_EQ(namespaces.Row(made.object), R"(["a","Active","60m"])");
}

TEST(NamespaceTest, ValidatesFinalizers) {
  StrategyHarness namespaces(NewNamespaceStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"finalizers":["example.com/x"]})", ""},
      {R"("spec":{"finalizers":["nodomain"]})",
       "spec.finalizers: Invalid value: \"nodomain\": name is neither a standard finalizer name "
       "nor "
       "is it fully qualified"},
  };
  ExpectCreate(namespaces, cases);
}

TEST(NamespaceTest, NameMustBeDnsLabel) {
  StrategyHarness namespaces(NewNamespaceStrategy());
  EXPECT_EQ(namespaces.Create(R"({"metadata":{"name":"a.b"}})").error,
            "metadata.name: Invalid value: \"a.b\": must not contain dots");
}

TEST(NamespaceTest, OnlyFinalizeChangesFinalizers) {
  StrategyHarness namespaces(NewNamespaceStrategy());
  Object old = namespaces.Create(R"({"metadata":{"name":"a"}})").object;
  constexpr std::string_view kPatch = R"({"spec":{"finalizers":[]},"status":{"phase":"x"}})";
  EXPECT_EQ(namespaces.Update(old, kPatch).Text(),
            R"({"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  auto finalized = namespaces.Update(old, kPatch, "finalize");
  EXPECT_EQ(finalized.Text(), R"({"spec":{},"status":{"phase":"Active"}})");
  EXPECT_TRUE(namespaces.strategy().HasKindFinalizers(old));
  EXPECT_FALSE(namespaces.strategy().HasKindFinalizers(finalized.object));
  EXPECT_EQ(namespaces.Update(old, R"({"spec":{"finalizers":["x"]}})", "finalize").error,
            "spec.finalizers[0]: Invalid value: \"x\": name is neither a standard finalizer name "
            "nor is it fully qualified");
}

TEST(NamespaceTest, PhaseMustMatchDeletionTimestamp) {
  StrategyHarness namespaces(NewNamespaceStrategy());
  Object old = namespaces.Create(R"({"metadata":{"name":"a"}})").object;
  EXPECT_EQ(namespaces.Update(old, R"({"status":{"phase":"Terminating"}})", "status").error,
            "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if "
            "`deletionTimestamp` is empty");
  old.object_meta()->deletionTimestamp = Time::FromUnix(1);
  EXPECT_EQ(namespaces.Update(old, "{}", "status").error,
            "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if "
            "`deletionTimestamp` is not empty");
}

}  // namespace
}  // namespace cox::apiserver
