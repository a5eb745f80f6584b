// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "coxswain/apply.h"
#include "object/codec/json/json.h"

namespace cox {
namespace {

using apps::v1::Deployment;
using apps::v1::DeploymentSpec;
using core::v1::Pod;

std::string Sent(const auto& configuration) { return json::Write(configuration.ToValue()); }

TEST(ApplyConfigurationTest, ContainsOnlySetFields) {
  ApplyConfiguration<Deployment> web{{
      .metadata = {.name = "web", .namespace_ = "default"},
      .spec = {.replicas = 3,
               .template_ = {.spec = {.containers = {{.name = "c", .image = "nginx"}}}}},
  }};
  EXPECT_EQ(Sent(web), R"({"apiVersion":"apps/v1","kind":"Deployment",)"
                       R"("metadata":{"name":"web","namespace":"default"},)"
                       R"("spec":{"replicas":3,"template":{"spec":{"containers":[)"
                       R"({"image":"nginx","name":"c"}]}}}})");
}

TEST(ApplyConfigurationTest, AlsoSendsZeroFields) {
  ApplyConfiguration<Deployment> web{{.metadata = {.name = "web"}}};
  web.Also(&Deployment::spec, &DeploymentSpec::paused)
      .Also(&Deployment::spec, &DeploymentSpec::minReadySeconds)
      .Also(&Deployment::spec, &DeploymentSpec::replicas)
      .Also(&Deployment::metadata, &meta::v1::ObjectMeta::labels);
  EXPECT_EQ(Sent(web),
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{},"name":"web"},)"
            R"("spec":{"minReadySeconds":0,"paused":false,"replicas":0}})");
  web.object().spec.minReadySeconds = 5;
  EXPECT_EQ(web.ToValue().At({"spec", "minReadySeconds"})->as_int(), 5);
}

TEST(ApplyConfigurationTest, KeepsSetOptionalsAndEmptyEntries) {
  ApplyConfiguration<Deployment> zero{{.spec = {.replicas = 0}}};
  EXPECT_EQ(zero.ToValue().At({"spec", "replicas"})->as_int(), 0) << "a set optional";

  ApplyConfiguration<Pod> pod{{}};
  core::v1::Volume volume{.name = "v"};
  volume.volumeSource.emptyDir.emplace();
  pod.object().spec.volumes.push_back(volume);
  pod.object().metadata.labels["empty"] = "";
  pod.object().metadata.finalizers.push_back("");
  EXPECT_EQ(Sent(pod), R"({"apiVersion":"v1","kind":"Pod",)"
                       R"("metadata":{"finalizers":[""],"labels":{"empty":""}},)"
                       R"("spec":{"volumes":[{"emptyDir":{},"name":"v"}]}})");
}

TEST(ApplyConfigurationTest, KeepsMergeKeysUnlessTheyHaveDefaults) {
  ApplyConfiguration<Pod> pod{{}};
  core::v1::Container container{.name = ""};
  container.ports.push_back({.hostPort = 80});
  pod.object().spec.containers.push_back(container);
  // name and containerPort are merge keys; so is protocol, which has a server default.
  EXPECT_EQ(Sent(pod), R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[)"
                       R"({"name":"","ports":[{"containerPort":0,"hostPort":80}]}]}})");
}

TEST(ApplyConfigurationTest, InlinedStructsAreNotPartOfThePath) {
  using core::v1::ProbeHandler;
  using internal::FieldName;
  EXPECT_EQ(FieldName(&core::v1::Probe::handler), "");
  EXPECT_EQ(FieldName(&ProbeHandler::exec), "exec");
  EXPECT_EQ(FieldName(&core::v1::Probe::periodSeconds), "periodSeconds");
  Value value = Value::MakeObject();
  internal::KeepPath(Object::Of(Pod{.metadata = {.name = "a"}}), {"", "metadata", "", "name"},
                     value);
  EXPECT_EQ(json::Write(value), R"({"metadata":{"name":"a"}})");
}

TEST(ApplyConfigurationTest, SetQuantitiesAndPortsAreSent) {
  ApplyConfiguration<Pod> pod{{}};
  core::v1::Container container{.name = "c"};
  container.resources.requests["cpu"] = Quantity();
  container.livenessProbe.emplace().handler.httpGet.emplace().port = IntOrString(8080);
  pod.object().spec.containers.push_back(container);
  EXPECT_EQ(Sent(pod),
            R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"livenessProbe":)"
            R"({"httpGet":{"port":8080}},"name":"c","resources":{"requests":{"cpu":"0"}}}]}})");
}

}  // namespace
}  // namespace cox
