// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/node/v1.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

StrategyPtr NewRuntimeClassStrategy() {
  std::vector<StrategyPtr> kinds;
  AddNodeKinds(&kinds);
  return std::move(kinds.front());
}

TEST(RuntimeClassTest, ValidatesHandlerOverheadAndScheduling) {
  StrategyHarness classes(NewRuntimeClassStrategy());
  const CreateCase cases[] = {
      {R"("handler":"h","overhead":{"podFixed":{"cpu":"1"}},
          "scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"operator":"Exists"}]})",
       ""},
      {"", "handler: Required value"},
      {R"("handler":"a.b")", "handler: Invalid value: \"a.b\": must not contain dots"},
      {R"("handler":"h","overhead":{"podFixed":{"cpu":"-1"}})",
       "overhead.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"},
      {R"("handler":"h","scheduling":{"tolerations":[{"operator":"Exists"},{"operator":"Exists"}]})",
       "scheduling.tolerations[1]: Duplicate value: {\"Key\":\"\",\"Operator\":\"Exists\","
       "\"Value\":\"\",\"Effect\":\"\",\"TolerationSeconds\":null}"},
  };
  ExpectCreate(classes, cases);
}

TEST(RuntimeClassTest, HandlerIsImmutable) {
  StrategyHarness classes(NewRuntimeClassStrategy());
  Object old = classes.Create(R"({"metadata":{"name":"a"},"handler":"h"})").object;
  EXPECT_EQ(classes.Update(old, R"({"handler":"z"})").error,
            "handler: Invalid value: \"z\": field is immutable");
  EXPECT_EQ(classes.Update(old, R"({"overhead":{"podFixed":{"cpu":"1"}}})").error, "");
  EXPECT_EQ(classes.Row(old), R"(["a","h","60m"])");
}

TEST(RuntimeClassTest, WarnsAboutDeprecatedNodeLabels) {
  StrategyHarness classes(NewRuntimeClassStrategy());
  auto made = classes.Create(R"({"metadata":{"name":"a"},"handler":"h",
      "scheduling":{"nodeSelector":{"beta.kubernetes.io/arch":"amd64","ok":"x"}}})");
  EXPECT_EQ(made.warnings, Warnings{"scheduling.nodeSelector: deprecated since v1.14; use "
                                    "\"kubernetes.io/arch\" instead"});
}

}  // namespace
}  // namespace cox::apiserver
