// SPDX-License-Identifier: Apache-2.0
#include "object/validation/object_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const FieldPath kMetadata("metadata");
const std::string kNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

std::vector<std::string> Texts(const FieldErrorList& errors) {
  std::vector<std::string> out;
  for (const FieldError& error : errors) out.push_back(error.ToString());
  return out;
}

std::vector<std::string> OfNew(const ObjectMetaView& meta, bool namespaced = true) {
  return Texts(ValidateObjectMeta(meta, namespaced, NameIsDNSSubdomain, kMetadata));
}

ObjectMetaView Good() { return {.name = "a", .namespace_ = "b"}; }

// All expected texts are upstream's.
TEST(ObjectMeta, NameAndNamespaceAreRequired) {
  EXPECT_THAT(OfNew(Good()), IsEmpty());
  EXPECT_THAT(OfNew({}),
              ElementsAre("metadata.name: Required value: name or generateName is required",
                          "metadata.namespace: Required value"));
  EXPECT_THAT(OfNew({.generate_name = "a-", .namespace_ = "b"}),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
}

TEST(ObjectMeta, ClusterScopedKindsHaveNoNamespace) {
  EXPECT_THAT(OfNew(Good(), false),
              ElementsAre("metadata.namespace: Forbidden: not allowed on this type"));
  EXPECT_THAT(OfNew({.name = "a"}, false), IsEmpty());
}

TEST(ObjectMeta, NamesAreValidated) {
  const std::string subdomain = IsDNS1123Subdomain("_")[0], label = IsDNS1123Label("_")[0];
  EXPECT_THAT(OfNew({.name = "A_", .generate_name = "B_", .namespace_ = "C_"}),
              ElementsAre("metadata.generateName: Invalid value: \"B_\": " + subdomain,
                          "metadata.name: Invalid value: \"A_\": " + subdomain,
                          "metadata.namespace: Invalid value: \"C_\": " + label));
}

TEST(ObjectMeta, GenerationIsNotNegative) {
  ObjectMetaView meta = Good();
  meta.generation = -1;
  FieldErrorList errors = ValidateObjectMeta(meta, true, NameIsDNSSubdomain, kMetadata);
  EXPECT_THAT(Texts(errors), ElementsAre("metadata.generation: Invalid value: -1: must be greater "
                                         "than or equal to 0"));
  EXPECT_EQ(errors[0].origin, "minimum");
}

TEST(ObjectMeta, LabelsAndAnnotationKeysAreQualifiedNames) {
  const StringPair kLabels[] = {{"a b", "c d"}, {"ok", "x"}, {"z", "-"}};
  const StringPair kAnnotations[] = {{"A/B", "x"}, {"UPPER.example.com/x", "1"}, {"a b", "c d"}};
  ObjectMetaView meta = Good();
  meta.labels = kLabels;
  meta.annotations = kAnnotations;
  FieldErrorList errors = ValidateObjectMeta(meta, true, NameIsDNSSubdomain, kMetadata);
  EXPECT_THAT(Texts(errors),
              ElementsAre("metadata.labels: Invalid value: \"a b\": " + kNamePart,
                          "metadata.labels: Invalid value: \"c d\": " + kLabelValue,
                          "metadata.labels: Invalid value: \"-\": " + kLabelValue,
                          "metadata.annotations: Invalid value: \"a b\": " + kNamePart));
  EXPECT_EQ(errors[0].origin, "format=k8s-label-key");
  EXPECT_EQ(errors[1].origin, "format=k8s-label-value");
}

TEST(ObjectMeta, TotalSizeOfAnnotationsIsLimited) {
  const std::string value(kTotalAnnotationSizeLimit, 'x');
  ObjectMetaView meta = Good();
  const StringPair kFits[] = {{"a", std::string_view(value).substr(1)}};
  meta.annotations = kFits;
  EXPECT_THAT(OfNew(meta), IsEmpty());
  const StringPair kTooLong[] = {{"a", value}};
  meta.annotations = kTooLong;
  EXPECT_THAT(OfNew(meta),
              ElementsAre("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

TEST(ObjectMeta, OwnerReferencesMustBeComplete) {
  const OwnerReferenceView kOwners[] = {
      {},
      {"events.k8s.io/v1", "Event", "y", "2", {}, {}},
      {"v1", "Event", "y", "2", {}, true},
      {"a/b/c", "X", "y", "2", false, {}},
      {"/", "X", "y", "2", {}, {}},
      {"apps/", "X", "y", "2", {}, {}},
      {"/v1", "X", "y", "2", {}, {}},
  };
  EXPECT_THAT(
      Texts(ValidateOwnerReferences(kOwners, kMetadata.Child("ownerReferences"))),
      ElementsAre(
          "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
          "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
          "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
          "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
          "metadata.ownerReferences: Invalid value: "
          "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"y\",\"uid\":\"2\","
          "\"blockOwnerDeletion\":true}: /v1, Kind=Event is disallowed from being an owner",
          "metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be "
          "empty",
          "metadata.ownerReferences.apiVersion: Invalid value: \"/\": version must not be empty",
          "metadata.ownerReferences.apiVersion: Invalid value: \"apps/\": version must not be "
          "empty"));
}

TEST(ObjectMeta, OnlyOneOwnerCanBeTheController) {
  const OwnerReferenceView kOwners[] = {{"v1", "Pod", "x", "1", true, {}},
                                        {"apps/v1", "ReplicaSet", "y", "2", true, {}},
                                        {"apps/v1", "ReplicaSet", "z", "3", true, {}}};
  const std::string start =
      "metadata.ownerReferences: Invalid value: "
      "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"x\",\"uid\":\"1\",\"controller\":true},"
      "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"y\",\"uid\":\"2\","
      "\"controller\":true},"
      "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"z\",\"uid\":\"3\","
      "\"controller\":true}]: Only one reference can have Controller set to true. Found \"true\" "
      "in references for Pod/x and ReplicaSet/";
  EXPECT_THAT(Texts(ValidateOwnerReferences(kOwners, kMetadata.Child("ownerReferences"))),
              ElementsAre(start + "y", start + "z"));
}

TEST(ObjectMeta, FinalizersAreQualifiedNames) {
  const std::vector<std::string> kFinalizers = {"a",      "example.com/x",      "a b",
                                                "orphan", "foregroundDeletion", ""};
  const std::string start = "metadata.finalizers: Invalid value: ";
  EXPECT_THAT(
      Texts(ValidateFinalizers(kFinalizers, kMetadata.Child("finalizers"))),
      ElementsAre(start + "\"a b\": " + kNamePart, start + "\"\": name part must be non-empty",
                  start + "\"\": " + kNamePart,
                  start + "[\"a\",\"example.com/x\",\"a "
                          "b\",\"orphan\",\"foregroundDeletion\",\"\"]: finalizer orphan and "
                          "foregroundDeletion cannot be both set"));
}

TEST(ObjectMeta, ManagedFieldsAreValidated) {
  const std::string manager(129, 'm'), subresource(257, 's');
  const ManagedFieldsEntryView kEntries[] = {
      {manager, "Bad", "x", ""},
      {"a\nb\xe2\x80\x8b", "Apply", "FieldsV1", subresource},
      {"\xc3\xa9\xff", "Update", "", ""},
      {},
  };
  EXPECT_THAT(
      Texts(ValidateManagedFields(kEntries, FieldPath("m"))),
      ElementsAre("m[0].operation: Invalid value: \"Bad\": must be `Apply` or `Update`",
                  "m[0].fieldsType: Invalid value: \"x\": must be `FieldsV1`",
                  "m[0].manager: Too long: may not be more than 128 bytes",
                  "m[1].manager: Invalid value: \"a\\nb\\u200b\": invalid character U+000A (at "
                  "position 1)",
                  "m[1].manager: Invalid value: \"a\\nb\\u200b\": invalid character U+200B (at "
                  "position 3)",
                  "m[1].subresource: Too long: may not be more than 256 bytes",
                  "m[3].operation: Invalid value: \"\": must be `Apply` or `Update`"));
}

ObjectMetaView Stored() {
  return {.name = "a",
          .namespace_ = "b",
          .uid = "u",
          .resource_version = "1",
          .generation = 2,
          .creation_timestamp = Time::FromUnix(5)};
}

TEST(ObjectMetaUpdate, UnchangedObjectIsValid) {
  EXPECT_THAT(Texts(ValidateObjectMetaUpdate(Stored(), Stored(), kMetadata)), IsEmpty());
}

TEST(ObjectMetaUpdate, ImmutableFieldsCannotChange) {
  ObjectMetaView old = Stored();
  old.deletion_timestamp = Time::FromUnix(5);
  old.deletion_grace_period_seconds = 1;
  const std::vector<std::string> kFinalizers = {"b", "a"};
  const StringPair kLabels[] = {{"a b", "c"}};
  const OwnerReferenceView kOwners[] = {{"v1", "X", "", "2", {}, {}}};
  const ManagedFieldsEntryView kEntries[] = {{}};
  const ObjectMetaView meta = {.name = "a2",
                               .namespace_ = "b2",
                               .uid = "u2",
                               .generation = 1,
                               .labels = kLabels,
                               .annotations = kLabels,
                               .owner_references = kOwners,
                               .finalizers = kFinalizers,
                               .managed_fields = kEntries};
  EXPECT_THAT(
      Texts(ValidateObjectMetaUpdate(meta, old, kMetadata)),
      ElementsAre(
          "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
          "deleted, found new finalizers []string{\"a\", \"b\"}",
          "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
          "metadata.generation: Invalid value: 1: must not be decremented",
          "metadata.name: Invalid value: \"a2\": field is immutable",
          "metadata.namespace: Invalid value: \"b2\": field is immutable",
          "metadata.uid: Invalid value: \"u2\": field is immutable",
          "metadata.creationTimestamp: Invalid value: null: field is immutable",
          "metadata.deletionTimestamp: Invalid value: null: field is immutable",
          "metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable",
          "metadata.labels: Invalid value: \"a b\": " + kNamePart,
          "metadata.annotations: Invalid value: \"a b\": " + kNamePart,
          "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
          "metadata.managedFields[0].operation: Invalid value: \"\": must be `Apply` or `Update`"));
}

TEST(ObjectMetaUpdate, TimesAreInTheFormatOfTheApi) {
  ObjectMetaView meta = Stored();
  meta.creation_timestamp = Time::FromUnix(6);
  meta.deletion_timestamp = Time::FromUnix(5);
  meta.deletion_grace_period_seconds = 30;
  EXPECT_THAT(
      Texts(ValidateObjectMetaUpdate(meta, Stored(), kMetadata)),
      ElementsAre(
          "metadata.creationTimestamp: Invalid value: \"1970-01-01T00:00:06Z\": field is immutable",
          "metadata.deletionTimestamp: Invalid value: \"1970-01-01T00:00:05Z\": field is immutable",
          "metadata.deletionGracePeriodSeconds: Invalid value: 30: field is immutable"));
}

TEST(ObjectMetaUpdate, FinalizersCanBeRemovedDuringDeletion) {
  const std::vector<std::string> kTwo = {"a.b/c", "d.e/f"}, kOne = {"d.e/f"};
  ObjectMetaView old = Stored(), meta = Stored();
  old.deletion_timestamp = meta.deletion_timestamp = Time::FromUnix(5);
  old.finalizers = kTwo;
  meta.finalizers = kOne;
  EXPECT_THAT(Texts(ValidateObjectMetaUpdate(meta, old, kMetadata)), IsEmpty());
}

}  // namespace
}  // namespace cox::validation
