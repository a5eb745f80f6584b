// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/testing/strategy_testing.h"

namespace cox::apiserver {
namespace {

StrategyTester Tester() {
  return {NewControllerRevisionStrategy(),
          R"({"metadata": {"name": "a"}, "revision": 1, "data": {"a": 1}})"};
}

TEST(ControllerRevision, RequiresDataAndRevision) {
  StrategyTester tester = Tester();
  ExpectCreateErrors(tester,
                     {{"{}", {}},
                      {R"({"data": null, "revision": -1})",
                       {"data: Required value: data is mandatory",
                        "revision: Invalid value: -1: must be greater than or equal to 0"}}});
}

TEST(ControllerRevision, DataIsImmutable) {
  StrategyTester tester = Tester();
  ExpectUpdateErrors(
      tester, tester.Create(),
      {{R"({"revision": 2})", {}},
       {R"({"data": {"a": 2}})", {R"(data: Invalid value: {"a":2}: field is immutable)"}}});
}

TEST(ControllerRevision, ShowsController) {
  StrategyTester tester = Tester();
  EXPECT_EQ(tester.Row(tester.Create()), R"(["a","\u003cnone\u003e",1,"\u003cunknown\u003e"])");
  EXPECT_EQ(tester.Row(tester.Create(R"({"metadata": {"ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"},
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "2",
                 "controller": true}]}})")),
            R"(["a","statefulset.apps/db",1,"\u003cunknown\u003e"])");
}

}  // namespace
}  // namespace cox::apiserver
