// SPDX-License-Identifier: Apache-2.0
#include "coxswain/client.h"
#include "object/codec/json/json.h"

// Converts the verbs to Operations for decorators.
namespace cox {
namespace {

ObjectKey KeyOfObject(const Object& object) { return HeadOf(object).key; }

std::string TextAt(const Value& object, std::string_view member) {
  const Value* value = object.At({"metadata", member});
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

}  // namespace

Result<Object> Client::Get(Context& ctx, const Resource& resource, const ObjectKey& key,
                           const GetOptions& options) {
  return Execute(ctx, {.verb = Operation::Verb::kGet,
                       .resource = resource,
                       .key = key,
                       .subresource = options.subresource,
                       .get = &options});
}

Result<Object> Client::Create(Context& ctx, const Resource& resource, const Object& object,
                              const WriteOptions& options) {
  return Execute(ctx, {.verb = Operation::Verb::kCreate,
                       .resource = resource,
                       .key = KeyOfObject(object),
                       .subresource = options.subresource,
                       .body = &object,
                       .write = &options});
}

Result<Object> Client::Update(Context& ctx, const Resource& resource, const Object& object,
                              const WriteOptions& options) {
  return Execute(ctx, {.verb = Operation::Verb::kUpdate,
                       .resource = resource,
                       .key = KeyOfObject(object),
                       .subresource = options.subresource,
                       .body = &object,
                       .write = &options});
}

Result<Object> Client::PatchObject(Context& ctx, const Resource& resource, const ObjectKey& key,
                                   const Patch& patch, const WriteOptions& options) {
  return Execute(ctx, {.verb = Operation::Verb::kPatch,
                       .resource = resource,
                       .key = key,
                       .subresource = options.subresource,
                       .patch = &patch,
                       .write = &options});
}

Result<Object> Client::Apply(Context& ctx, const Resource& resource, const Value& object,
                             const ApplyOptions& options) {
  Patch body{.type = patch::PatchType::kApply, .body = json::Write(object)};
  return Execute(ctx, {.verb = Operation::Verb::kApply,
                       .resource = resource,
                       .key = {TextAt(object, "namespace"), TextAt(object, "name")},
                       .subresource = options.subresource,
                       .patch = &body,
                       .apply = &options});
}

Result<Object> Client::Delete(Context& ctx, const Resource& resource, const ObjectKey& key,
                              const DeleteOptions& options) {
  return Execute(
      ctx,
      {.verb = Operation::Verb::kDelete, .resource = resource, .key = key, .remove = &options});
}

Status Client::DeleteAll(Context& ctx, const Resource& resource, const ListOptions& which,
                         const DeleteOptions& options) {
  return Execute(ctx, {.verb = Operation::Verb::kDeleteAll,
                       .resource = resource,
                       .key = {.ns = which.ns},
                       .remove = &options,
                       .list = &which})
      .status();
}

}  // namespace cox
