// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/parameters.h"

namespace cox::apiserver::openapi {
namespace {

constexpr std::string_view kQuery = "query";

constexpr Parameter kAllowWatchBookmarks = {
    "allowWatchBookmarks", kQuery, "boolean",
    "Asks a watch for BOOKMARK events now and then, which tell how far it has come.",
    "allowWatchBookmarks-HC2hJt-J"};
constexpr Parameter kContinue = {
    "continue", kQuery, "string",
    "Where to go on with a list that was cut by limit: metadata.continue of the part before. "
    "Answered with 410 (Gone) when it has become too old.",
    "continue-QfD61s0i"};
constexpr Parameter kDryRun = {
    "dryRun", kQuery, "string",
    "With the value All the request is processed in full, but nothing is stored."};
constexpr Parameter kFieldManager = {
    "fieldManager", kQuery, "string",
    "Who makes this change: at most 128 printable characters. Taken from the User-Agent if absent.",
    "fieldManager-Qy4HdaTW"};
constexpr Parameter kPatchFieldManager = {
    "fieldManager", kQuery, "string",
    "Who makes this change: at most 128 printable characters. Required for apply patches.",
    "fieldManager-7c6nTn1T"};
constexpr Parameter kFieldSelector = {"fieldSelector", kQuery, "string",
                                      "Only objects whose fields match. Everything if absent.",
                                      "fieldSelector-xIcQKXFG"};
constexpr Parameter kFieldValidation = {
    "fieldValidation", kQuery, "string",
    "What to do about unknown and repeated fields: Ignore, Warn (the default) or Strict."};
constexpr Parameter kForce = {
    "force", kQuery, "boolean",
    "Takes over fields that other managers own with other values. For apply patches only.",
    "force-tOGGb0Yi"};
constexpr Parameter kGracePeriodSeconds = {
    "gracePeriodSeconds", kQuery, "integer",
    "How long the object may take to end, in seconds. Zero means at once.",
    "gracePeriodSeconds--K5HaBOS"};
constexpr Parameter kIgnoreStoreReadError = {
    "ignoreStoreReadErrorWithClusterBreakingPotential", kQuery, "boolean",
    "Deletes an object that can no longer be read from the store, without finalizers and "
    "preconditions. May break the cluster.",
    "ignoreStoreReadErrorWithClusterBreakingPotential-QbNkfIqj"};
constexpr Parameter kLabelSelector = {"labelSelector", kQuery, "string",
                                      "Only objects whose labels match. Everything if absent.",
                                      "labelSelector-5Zw57w4C"};
constexpr Parameter kLimit = {
    "limit", kQuery, "integer",
    "At most this many objects per answer; metadata.continue says where to go on.",
    "limit-1NfNmdNH"};
constexpr Parameter kOrphanDependents = {"orphanDependents", kQuery, "boolean",
                                         "Deprecated: use propagationPolicy.",
                                         "orphanDependents-uRB25kX5"};
constexpr Parameter kPropagationPolicy = {
    "propagationPolicy", kQuery, "string",
    "What becomes of the objects this one owns: Orphan, Background or Foreground.",
    "propagationPolicy-6jk3prlO"};
constexpr Parameter kResourceVersion = {
    "resourceVersion", kQuery, "string",
    "Which state of the store the answer may come from, see resourceVersionMatch.",
    "resourceVersion-5WAnf1kx"};
constexpr Parameter kResourceVersionMatch = {
    "resourceVersionMatch", kQuery, "string",
    "How resourceVersion is meant by a list: NotOlderThan or Exact.",
    "resourceVersionMatch-t8XhRHeC"};
constexpr Parameter kSendInitialEvents = {
    "sendInitialEvents", kQuery, "boolean",
    "Begins a watch with the present objects as events, up to a bookmark that says that was all.",
    "sendInitialEvents-rLXlEK_k"};
constexpr Parameter kShardSelector = {"shardSelector", kQuery, "string",
                                      "Only objects of one shard of the collection.",
                                      "shardSelector-Kgyki_3_"};
constexpr Parameter kTimeoutSeconds = {"timeoutSeconds", kQuery, "integer",
                                       "Ends a list or watch after this time, whatever it did.",
                                       "timeoutSeconds-yvYezaOC"};
constexpr Parameter kWatch = {
    "watch", kQuery, "boolean",
    "Answers with a stream of changes instead of a list. Needs no more than resourceVersion.",
    "watch-XNNPZGbK"};

constexpr const Parameter* kList[] = {&kAllowWatchBookmarks,
                                      &kContinue,
                                      &kFieldSelector,
                                      &kLabelSelector,
                                      &kLimit,
                                      &kResourceVersion,
                                      &kResourceVersionMatch,
                                      &kSendInitialEvents,
                                      &kShardSelector,
                                      &kTimeoutSeconds,
                                      &kWatch};
constexpr const Parameter* kWrite[] = {&kDryRun, &kFieldManager, &kFieldValidation};
constexpr const Parameter* kPatch[] = {&kDryRun, &kPatchFieldManager, &kFieldValidation, &kForce};
constexpr const Parameter* kDelete[] = {&kDryRun, &kGracePeriodSeconds, &kIgnoreStoreReadError,
                                        &kOrphanDependents, &kPropagationPolicy};
constexpr const Parameter* kDeleteCollection[] = {&kContinue,
                                                  &kDryRun,
                                                  &kFieldSelector,
                                                  &kGracePeriodSeconds,
                                                  &kIgnoreStoreReadError,
                                                  &kLabelSelector,
                                                  &kLimit,
                                                  &kOrphanDependents,
                                                  &kPropagationPolicy,
                                                  &kResourceVersion,
                                                  &kResourceVersionMatch,
                                                  &kSendInitialEvents,
                                                  &kShardSelector,
                                                  &kTimeoutSeconds};

}  // namespace

constinit const Parameter kNameParameter = {"name", "path", "string", "name of the "};
constinit const Parameter kNamespaceParameter = {
    "namespace", "path", "string", "object name and auth scope, such as for teams and projects",
    "namespace-vgWSWtn3"};
constinit const Parameter kPathParameter = {"path", "path", "string", "path to the resource",
                                            "path-z6Ciiujn"};
constinit const Parameter kPrettyParameter = {
    "pretty", kQuery, "string",
    "Indents the answer. On by default for browsers and command-line HTTP tools.",
    "pretty-tJGM1-ng"};

std::span<const Parameter* const> ListParameters() { return kList; }
std::span<const Parameter* const> WriteParameters() { return kWrite; }
std::span<const Parameter* const> PatchParameters() { return kPatch; }
std::span<const Parameter* const> DeleteParameters() { return kDelete; }
std::span<const Parameter* const> DeleteCollectionParameters() { return kDeleteCollection; }

std::span<const Parameter* const> SharedParameters() {
  static constexpr const Parameter* kShared[] = {&kAllowWatchBookmarks,
                                                 &kContinue,
                                                 &kFieldManager,
                                                 &kPatchFieldManager,
                                                 &kFieldSelector,
                                                 &kForce,
                                                 &kGracePeriodSeconds,
                                                 &kIgnoreStoreReadError,
                                                 &kLabelSelector,
                                                 &kLimit,
                                                 &kNamespaceParameter,
                                                 &kOrphanDependents,
                                                 &kPathParameter,
                                                 &kPrettyParameter,
                                                 &kPropagationPolicy,
                                                 &kResourceVersion,
                                                 &kResourceVersionMatch,
                                                 &kSendInitialEvents,
                                                 &kShardSelector,
                                                 &kTimeoutSeconds,
                                                 &kWatch};
  return kShared;
}

}  // namespace cox::apiserver::openapi
