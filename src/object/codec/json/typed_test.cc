// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding of structs: rules for fields, type errors with Go's texts, unknown and
// duplicate fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/admission/v1.h"
#include "api/apiextensions/v1.h"
#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "api/rbac/v1.h"
#include "object/codec/json/json.h"
#include "object/type/limits.h"

namespace cox::json {
namespace {

using testing::ElementsAre;

template <class T>
std::string DecodeError(std::string_view text) {
  return Decode<T>(text).status().message();
}

TEST(TypedDecode, FillsStructs) {
  Result<core::v1::Pod> pod = Decode<core::v1::Pod>(R"({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {"name": "web", "labels": {"b": "2", "a": "1"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
    "spec": {
      "containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "500m", "memory": 1000}},
        "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 3}}],
      "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
      "terminationGracePeriodSeconds": 0, "hostNetwork": true},
    "status": null})");
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  EXPECT_EQ(pod->metadata.name, "web");
  ASSERT_EQ(pod->metadata.labels.size(), 2u);
  EXPECT_EQ(pod->metadata.labels.begin()->first, "a");
  EXPECT_EQ(pod->metadata.creationTimestamp.ToString(), "2026-01-02T03:04:05Z");
  ASSERT_EQ(pod->spec.containers.size(), 1u);
  const core::v1::Container& container = pod->spec.containers[0];
  EXPECT_EQ(container.ports[0].containerPort, 80);
  EXPECT_EQ(container.resources.limits.Get("cpu")->MilliValue(), 500);
  EXPECT_EQ(container.resources.limits.Get("memory")->Value(), 1000);
  ASSERT_TRUE(container.livenessProbe);
  EXPECT_EQ(container.livenessProbe->handler.httpGet->port.string_value(), "http");
  EXPECT_EQ(container.livenessProbe->periodSeconds, 3);
  ASSERT_TRUE(pod->spec.volumes[0].volumeSource.emptyDir);
  EXPECT_EQ(pod->spec.volumes[0].volumeSource.emptyDir->sizeLimit->ToString(), "1Gi");
  EXPECT_EQ(pod->spec.terminationGracePeriodSeconds, 0);
  EXPECT_TRUE(pod->spec.hostNetwork);
  EXPECT_FALSE(pod->spec.securityContext);
}

TEST(TypedDecode, TypeErrorsMatchGo) {
  using core::v1::Pod;
  EXPECT_EQ(DecodeError<Pod>("[]"), "json: cannot unmarshal array into Go value of type v1.Pod");
  EXPECT_EQ(
      DecodeError<Pod>(R"({"metadata":{"name":1}})"),
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string");
  EXPECT_EQ(DecodeError<Pod>(R"({"spec":{"containers":{}}})"),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container");
  EXPECT_EQ(DecodeError<Pod>(R"({"spec":{"containers":[{"name":true}]}})"),
            "json: cannot unmarshal bool into Go struct field Container.spec.containers.name of "
            "type string");
  EXPECT_EQ(DecodeError<Pod>(R"({"spec":{"restartPolicy":5}})"),
            "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type "
            "v1.RestartPolicy");
  EXPECT_EQ(
      DecodeError<Pod>(R"({"spec":{"priority":1.5}})"),
      "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32");
  EXPECT_EQ(DecodeError<Pod>(R"({"spec":{"priority":2147483648}})"),
            "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.priority "
            "of type int32");
  EXPECT_EQ(DecodeError<Pod>(R"({"metadata":{"labels":{"a":1}}})"),
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
            "string");
  EXPECT_EQ(
      DecodeError<Pod>(R"({"metadata":"x"})"),
      "json: cannot unmarshal string into Go struct field Pod.metadata of type v1.ObjectMeta");
  EXPECT_EQ(DecodeError<core::v1::Secret>(R"({"data":{"k":"!"}})"),
            "illegal base64 data at input byte 0");
  EXPECT_THAT(DecodeError<Pod>(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}})"),
              testing::HasSubstr("quantities must match the regular expression"));
}

TEST(TypedDecode, ReportsFirstTypeErrorUnlessThereIsASyntaxError) {
  EXPECT_EQ(
      DecodeError<core::v1::Pod>(R"({"metadata":{"name":1,"namespace":2}})"),
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string");
  EXPECT_EQ(DecodeError<core::v1::Pod>(R"({"metadata":{"name":1},})"),
            "invalid character '}' looking for beginning of object key string");
}

TEST(TypedDecode, ReportsUnknownAndDuplicateFieldsWithTheirPaths) {
  Strictness strict;
  auto pod = Decode<core::v1::Pod>(R"({
    "metadata": {"name": "a", "name": "b", "labels": {"x": "1", "x": "2"}, "foo": {"bar": 1}},
    "spec": {"containers": [{"name": "c"}, {"name": "d", "imagePullPolice": "Always", "Image": "x"}]},
    "foo": 1})",
                                   &strict);
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  EXPECT_THAT(strict.errors,
              ElementsAre("duplicate field \"metadata.name\"",
                          "duplicate field \"metadata.labels.x\"", "unknown field \"metadata.foo\"",
                          "unknown field \"spec.containers[1].imagePullPolice\"",
                          "unknown field \"spec.containers[1].Image\"", "unknown field \"foo\""));
  EXPECT_EQ(pod->metadata.name, "b");
  EXPECT_EQ(*pod->metadata.labels.Get("x"), "2");
}

TEST(TypedDecode, InlinedStructsHaveNoName) {
  Strictness strict;
  auto volume = Decode<core::v1::Volume>(R"({"name":"v","volumeSource":{"emptyDir":{}}})", &strict);
  ASSERT_TRUE(volume.ok());
  EXPECT_THAT(strict.errors, ElementsAre("unknown field \"volumeSource\""));
  EXPECT_FALSE(volume->volumeSource.emptyDir);
}

TEST(TypedDecode, NullEmptiesPointersListsAndMaps) {
  core::v1::PodSpec spec{.containers = {{.name = "c"}},
                         .nodeSelector = {{"a", "b"}},
                         .securityContext = core::v1::PodSecurityContext{}};
  spec.terminationGracePeriodSeconds = 3;
  spec.nodeName = "kept";
  ASSERT_TRUE(Decode(R"({"containers":null,"nodeSelector":null,"securityContext":null,
                         "terminationGracePeriodSeconds":null,"nodeName":null})",
                     core::v1::PodSpec::kType, &spec)
                  .ok());
  EXPECT_TRUE(spec.containers.empty());
  EXPECT_TRUE(spec.nodeSelector.empty());
  EXPECT_FALSE(spec.securityContext);
  EXPECT_FALSE(spec.terminationGracePeriodSeconds.has_value());
  EXPECT_EQ(spec.nodeName, "kept");
}

TEST(TypedEncode, FollowsOmitEmpty) {
  // The expected text is upstream's for an empty Deployment.
  EXPECT_EQ(
      Encode(apps::v1::Deployment{}),
      R"({"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}})");
  EXPECT_EQ(Encode(core::v1::Pod{}), R"({"metadata":{},"spec":{"containers":null},"status":{}})");
  EXPECT_EQ(Encode(rbac::v1::Role{}), R"({"metadata":{},"rules":null})");
  // A Time without omitzero and an empty RawExtension are encoded.
  EXPECT_EQ(Encode(core::v1::ContainerStateRunning{}), R"({"startedAt":null})");
}

TEST(TypedEncode, OptionalZeroIsNotAbsent) {
  core::v1::PodSpec spec{.containers = {{.name = "c"}}};
  spec.terminationGracePeriodSeconds = 0;
  spec.enableServiceLinks = false;
  spec.securityContext.emplace();
  EXPECT_EQ(
      Encode(spec),
      R"({"containers":[{"name":"c","resources":{}}],"terminationGracePeriodSeconds":0,"securityContext":{},"enableServiceLinks":false})");
}

TEST(TypedEncode, TypeMetaComesFirst) {
  std::string out;
  TypeMeta meta{.api_version = "v1", .kind = "ConfigMap"};
  core::v1::ConfigMap map{.data = {{"k", "v"}}};
  Encode(core::v1::ConfigMap::kType, &map, &out, &meta);
  EXPECT_EQ(out, R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"k":"v"}})");
}

TEST(TypedEncode, VolumeClaimTemplatesKeepTheirKind) {
  constexpr std::string_view kText =
      R"({"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},)"
      R"("volumeClaimTemplates":[{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"d"},)"
      R"("spec":{"resources":{}},"status":{}}],"serviceName":"s","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}})";
  auto set = Decode<apps::v1::StatefulSet>(kText);
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->spec.volumeClaimTemplates[0].kind, "PersistentVolumeClaim");
  Result<Value> expected = Parse(kText);
  EXPECT_EQ(Write(ToValue(*set)), Write(*expected));
}

TEST(TypedRaw, KeepsBytesAndCompactsThemForOutput) {
  auto review = Decode<admission::v1::AdmissionReview>(
      R"({"request":{"uid":"u","object":{ "a" : [1, 2] }}})");
  ASSERT_TRUE(review.ok());
  EXPECT_EQ(review->request->object.raw, "{ \"a\" : [1, 2] }");
  EXPECT_THAT(Encode(*review), testing::HasSubstr(R"("object":{"a":[1,2]})"));
  // Protobuf input may contain invalid JSON: the document must stay valid.
  review->request->object.raw = "{\"a\":";
  std::string text = Encode(*review);
  EXPECT_TRUE(Parse(text).ok()) << text;
  EXPECT_THAT(text, testing::HasSubstr(R"("object":null)"));
}

TEST(TypedUnions, SchemaUnionsRoundTrip) {
  using apiextensions::v1::JSONSchemaProps;
  for (std::string_view text : {
           R"({"additionalProperties":true})",
           R"({"additionalProperties":false})",
           R"({"additionalProperties":{"type":"string"}})",
           R"({"items":{"type":"string"}})",
           R"({"items":[{"type":"string"},{"type":"integer"}]})",
           R"({"dependencies":{"a":["b","c"],"d":{"type":"object"}}})",
           R"({"default":{"a":[1,null]},"enum":[1,"two",null],"example":3})",
           R"({"$ref":"#/x","$schema":"y","x-kubernetes-preserve-unknown-fields":true})",
       }) {
    auto schema = Decode<JSONSchemaProps>(text);
    ASSERT_TRUE(schema.ok()) << text << schema.status().message();
    EXPECT_EQ(Write(ToValue(*schema)), Write(*Parse(text))) << text;
    auto again = FromValue<JSONSchemaProps>(*Parse(text));
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(Encode(*again), Encode(*schema)) << text;
  }
}

TEST(TypedDepth, IsLimitedForRecursiveTypes) {
  auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += R"({"not":)";
    text += "{}";
    return text + std::string(depth, '}');
  };
  EXPECT_TRUE(Decode<apiextensions::v1::JSONSchemaProps>(nested(limits::kMaxTypedDepth - 1)).ok());
  EXPECT_EQ(DecodeError<apiextensions::v1::JSONSchemaProps>(nested(limits::kMaxTypedDepth)),
            "exceeded max depth");
}

TEST(PeekTypeMeta, FindsKindAndApiVersionAnywhere) {
  auto meta =
      PeekTypeMeta(R"({"spec":{"kind":"no"},"kind":"Pod","metadata":{},"apiVersion":"v1"})");
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->kind, "Pod");
  EXPECT_EQ(meta->api_version, "v1");
  EXPECT_EQ(PeekTypeMeta("{}")->kind, "");
  EXPECT_EQ(PeekTypeMeta("null")->kind, "");
  EXPECT_FALSE(PeekTypeMeta("[]").ok());
  EXPECT_FALSE(PeekTypeMeta(R"({"kind":1})").ok());
  EXPECT_FALSE(PeekTypeMeta(R"({"kind":"Pod")").ok());
}

}  // namespace
}  // namespace cox::json
