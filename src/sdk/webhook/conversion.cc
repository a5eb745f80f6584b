// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/conversion.h"

#include <utility>

#include "api/apiextensions/v1.h"
#include "object/api_status.h"
#include "object/codec/json/json.h"
#include "object/type/kind_names.h"
#include "sdk/webhook/rebase.h"

namespace cox::sdk {
namespace {

std::string TextAt(const Value& object, std::string_view key) {
  const Value* const text = object.Find(key);
  return text != nullptr && text->is_string() ? std::string(text->as_string()) : std::string();
}

// Converts one step. Keeps unknown fields of the metadata.
Result<Value> Step(Context& ctx, const Value& from, const KindInfo& from_kind,
                   const KindInfo& to_kind, const ConvertHandler<Object, Object>& handler) {
  Object source(from_kind);
  COX_RETURN_IF_ERROR(json::FromValue(from, *from_kind.type, source.data()));
  Object target(to_kind);
  if (target.object_meta() != nullptr && source.object_meta() != nullptr) {
    *target.object_meta() = *source.object_meta();
  }
  COX_RETURN_IF_ERROR(handler(ctx, source, target));
  Value out = target.ToValue();
  const Value source_value = source.ToValue();
  const Value* const sent = from.Find("metadata");
  const Value* const before = source_value.Find("metadata");
  const Value* const after = out.Find("metadata");
  if (sent != nullptr && before != nullptr && after != nullptr) {
    out.as_object()["metadata"] = Rebase(*sent, *before, *after);
  }
  return out;
}

}  // namespace

void Conversions::Add(const KindInfo& from, const KindInfo& to,
                      ConvertHandler<Object, Object> handler) {
  ways_.push_back({&from, &to, std::move(handler)});
}

Result<std::vector<const Conversions::Way*>> Conversions::FindWays(
    const GroupVersionKind& from, const GroupVersionKind& to) const {
  for (const Way& way : ways_) {
    if (GvkOf(*way.from) == from && GvkOf(*way.to) == to) return std::vector{&way};
  }
  for (const Way& first : ways_) {
    if (GvkOf(*first.from) != from) continue;
    for (const Way& second : ways_) {
      if (second.from == first.to && GvkOf(*second.to) == to) return std::vector{&first, &second};
    }
  }
  return Status::BadRequest("no conversion from " + from.ToString() + " to " + to.ToString());
}

Result<Value> Conversions::ConvertTyped(Context& ctx, const Value& object,
                                        const std::string& api_version) const {
  const std::string kind = TextAt(object, "kind");
  COX_ASSIGN_OR_RETURN(const auto from,
                       GroupVersionKind::Parse(TextAt(object, "apiVersion"), kind));
  COX_ASSIGN_OR_RETURN(const auto to, GroupVersionKind::Parse(api_version, kind));
  COX_ASSIGN_OR_RETURN(const std::vector<const Way*> ways, FindWays(from, to));
  Value at = object;
  for (const Way* way : ways) {
    COX_ASSIGN_OR_RETURN(at, Step(ctx, at, *way->from, *way->to, way->handler));
  }
  return at;
}

Result<Value> Conversions::Convert(Context& ctx, const Value& object,
                                   const std::string& api_version) const {
  if (!object.is_object()) return Status::BadRequest("an object to convert is no JSON object");
  if (TextAt(object, "apiVersion") == api_version) return object;
  Result<Value> converted =
      any_ ? any_(ctx, object, api_version) : ConvertTyped(ctx, object, api_version);
  if (!converted.ok()) return converted;
  if (!converted->is_object()) return Status::Internal("the conversion gave no JSON object");
  converted->as_object()["apiVersion"] = api_version;
  return converted;
}

HookResponse Conversions::ConvertReview(Context& ctx, std::string_view body) const {
  const auto request = ReadRequest<apiextensions::v1::ConversionReview>(body);
  if (!request.ok()) return FailureResponse(request.status());
  if (request->desiredAPIVersion.empty()) {
    return FailureResponse(Status::BadRequest("the request names no desiredAPIVersion"));
  }
  apiextensions::v1::ConversionResponse response;
  response.uid = request->uid;
  Status result;
  for (const RawJson& raw : request->objects) {
    Result<Value> object = json::Parse(raw.raw);
    if (object.ok()) object = Convert(ctx, *object, request->desiredAPIVersion);
    if (ctx.Done()) return FailureResponse(Status::Timeout("the conversion did not end in time"));
    if (!object.ok()) {
      result = object.status();
      break;
    }
    response.convertedObjects.emplace_back().raw = json::Write(*object);
  }
  if (!result.ok()) response.convertedObjects.clear();
  response.result = ToApiStatus(result);
  return ReviewResponse<apiextensions::v1::ConversionReview>(std::move(response));
}

}  // namespace cox::sdk
