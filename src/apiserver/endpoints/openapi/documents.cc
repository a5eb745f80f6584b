// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/documents.h"

#include <algorithm>
#include <set>

namespace cox::apiserver::openapi {
namespace {

constexpr std::string_view kSecurity =
    R"({"BearerToken":{"description":"Bearer Token authentication","in":"header",)"
    R"("name":"authorization","type":"apiKey"}})";

std::string_view StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    default:
      return "Unauthorized";
  }
}

void WriteStrings(std::span<const std::string_view> strings, JsonText* json) {
  json->BeginArray();
  for (const std::string_view text : strings) json->String(text);
  json->EndArray();
}

// Writes paths and definitions of either dialect.
class Writer {
 public:
  Writer(const Schemas& schemas, Dialect dialect, JsonText* json)
      : schemas_(schemas), dialect_(dialect), json_(*json) {}

  void Path(const PathItem& item) {
    json_.Key(item.path);
    json_.BeginObject();
    for (const Operation& operation : item.operations) {
      json_.Key(operation.method);
      json_.BeginObject();
      Op(operation, item);
      json_.EndObject();
    }
    if (!item.parameters.empty()) {
      json_.Key("parameters");
      json_.BeginArray();
      for (const Parameter* parameter : item.parameters) Param(*parameter, item.kind);
      json_.EndArray();
    }
    json_.EndObject();
  }

  void Definitions(const GroupVersion& of) {
    std::set<std::string_view> all;
    for (const std::string_view root : roots_) schemas_.Reach(root, &all);
    for (const std::string_view name : all) {
      json_.Key(name);
      schemas_.WriteDefinition(name, dialect_, of, &json_);
    }
  }

  // Writes the complete parameter, not a reference.
  void ParamSchema(const Parameter& parameter, std::string_view kind) {
    json_.BeginObject();
    json_.Member("name", parameter.name);
    json_.Member("in", parameter.in);
    if (&parameter == &kNameParameter) {
      json_.Member("description", std::string(parameter.description) + std::string(kind));
    } else if (!parameter.description.empty()) {
      json_.Member("description", parameter.description);
    }
    if (parameter.required()) json_.RawMember("required", "true");
    if (dialect_ == Dialect::kV3) {
      json_.Key("schema");
      json_.BeginObject();
    }
    json_.Member("type", parameter.type);
    json_.RawMember("uniqueItems", "true");
    if (dialect_ == Dialect::kV3) json_.EndObject();
    json_.EndObject();
  }

 private:
  void Op(const Operation& op, const PathItem& item) {
    json_.Member("description", op.description);
    json_.Member("operationId", op.id);
    json_.Key("tags");
    json_.BeginArray();
    json_.String(item.tag);
    json_.EndArray();
    if (dialect_ == Dialect::kV2) {
      if (op.consumes != Media::kNone) {
        json_.Key("consumes");
        WriteStrings(MediaTypes(op.consumes), &json_);
      }
      json_.Key("produces");
      WriteStrings(MediaTypes(op.produces), &json_);
      json_.RawMember("schemes", R"(["https"])");
    }
    Params(op, item);
    if (dialect_ == Dialect::kV3 && !op.body.empty()) RequestBody(op);
    Responses(op);
    if (op.action.empty()) return;
    json_.Member("x-kubernetes-action", op.action);
    json_.Key("x-kubernetes-group-version-kind");
    json_.BeginObject();
    json_.Member("group", op.group);
    json_.Member("kind", op.kind);
    json_.Member("version", op.version);
    json_.EndObject();
  }

  void Params(const Operation& op, const PathItem& item) {
    const bool body = dialect_ == Dialect::kV2 && !op.body.empty();
    if (!body && op.parameters.empty()) return;
    json_.Key("parameters");
    json_.BeginArray();
    if (body) Body(op);
    for (const Parameter* parameter : op.parameters) Param(*parameter, item.kind);
    json_.EndArray();
  }

  void Param(const Parameter& parameter, std::string_view kind) {
    if (dialect_ == Dialect::kV2 && !parameter.shared_name.empty()) {
      SharedRef(parameter.shared_name);
    } else {
      ParamSchema(parameter, kind);
    }
  }

  void SharedRef(std::string_view name) {
    json_.BeginObject();
    json_.Member("$ref", "#/parameters/" + std::string(name));
    json_.EndObject();
  }

  // v2 lists the body among the parameters.
  void Body(const Operation& op) {
    roots_.insert(op.body);
    if (op.body.ends_with(".DeleteOptions")) return SharedRef(kSharedDeleteBody);
    if (op.body.ends_with(".Patch")) return SharedRef(kSharedPatchBody);
    json_.BeginObject();
    json_.Member("in", "body");
    json_.Member("name", "body");
    if (op.body_required) json_.RawMember("required", "true");
    json_.Key("schema");
    schemas_.WriteRef(op.body, dialect_, &json_);
    json_.EndObject();
  }

  void RequestBody(const Operation& op) {
    roots_.insert(op.body);
    json_.Key("requestBody");
    json_.BeginObject();
    Content(op.consumes, op.body);
    if (op.body_required) json_.RawMember("required", "true");
    json_.EndObject();
  }

  void Content(Media media, std::string_view definition) {
    std::vector<std::string_view> names(MediaTypes(media).begin(), MediaTypes(media).end());
    std::sort(names.begin(), names.end());
    json_.Key("content");
    json_.BeginObject();
    for (const std::string_view name : names) {
      json_.Key(name);
      json_.BeginObject();
      Schema(definition);
      json_.EndObject();
    }
    json_.EndObject();
  }

  void Schema(std::string_view definition) {
    json_.Key("schema");
    if (definition.empty()) {
      json_.Raw(R"({"type":"string"})");
    } else {
      schemas_.WriteRef(definition, dialect_, &json_);
    }
  }

  void Responses(const Operation& op) {
    if (!op.answer.empty()) roots_.insert(op.answer);
    json_.Key("responses");
    json_.BeginObject();
    for (const int status : op.ok_status) {
      json_.Key(std::to_string(status));
      json_.BeginObject();
      json_.Member("description", StatusText(status));
      if (dialect_ == Dialect::kV2) {
        Schema(op.answer);
      } else {
        Content(op.produces, op.answer);
      }
      json_.EndObject();
    }
    json_.Key("401");
    json_.BeginObject();
    json_.Member("description", StatusText(401));
    json_.EndObject();
    json_.EndObject();
  }

  const Schemas& schemas_;
  const Dialect dialect_;
  JsonText& json_;
  std::set<std::string_view> roots_;  // definitions that operations reference
};

// The group version of a document; empty for documents of the server or of a group.
GroupVersion VersionOf(std::string_view document) {
  const size_t slash = document.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string version(document.substr(slash + 1));
  if (document.substr(0, slash) == "api") return {"", version};
  if (!document.starts_with("apis/") || slash < 5) return {};
  return {std::string(document.substr(5, slash - 5)), version};
}

}  // namespace

std::vector<std::string> DocumentNames(const Operations& operations) {
  std::set<std::string> names;
  for (const PathItem& item : operations.paths()) names.insert(item.document);
  return {names.begin(), names.end()};
}

std::string V3Document(const Operations& operations, const Schemas& schemas,
                       std::string_view document) {
  std::string text;
  JsonText json(&text);
  Writer writer(schemas, Dialect::kV3, &json);
  json.BeginObject();
  json.Member("openapi", "3.0.0");
  json.RawMember("info", R"({"title":"Kubernetes","version":"unversioned"})");
  json.Key("paths");
  json.BeginObject();
  for (const PathItem& item : operations.paths()) {
    if (item.document == document) writer.Path(item);
  }
  json.EndObject();
  json.Key("components");
  json.BeginObject();
  json.Key("schemas");
  json.BeginObject();
  writer.Definitions(VersionOf(document));
  json.EndObject();
  json.RawMember("securitySchemes", kSecurity);
  json.EndObject();
  json.EndObject();
  return text;
}

std::string V2Document(const Operations& operations, const Schemas& schemas,
                       std::string_view server_version) {
  std::string text;
  JsonText json(&text);
  Writer writer(schemas, Dialect::kV2, &json);
  json.BeginObject();
  json.Member("swagger", "2.0");
  json.Key("info");
  json.BeginObject();
  json.Member("title", "Kubernetes");
  json.Member("version", server_version);
  json.EndObject();
  json.Key("paths");
  json.BeginObject();
  for (const PathItem& item : operations.paths()) writer.Path(item);
  json.EndObject();
  json.Key("definitions");
  json.BeginObject();
  writer.Definitions({});
  json.EndObject();
  json.Key("parameters");
  json.BeginObject();
  for (const auto& [name, kind] :
       {std::pair(kSharedDeleteBody, "DeleteOptions"), std::pair(kSharedPatchBody, "Patch")}) {
    json.Key(name);
    json.BeginObject();
    json.Member("in", "body");
    json.Member("name", "body");
    if (name == kSharedPatchBody) json.RawMember("required", "true");
    json.Key("schema");
    schemas.WriteRef("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(kind), Dialect::kV2,
                     &json);
    json.EndObject();
  }
  for (const Parameter* parameter : SharedParameters()) {
    json.Key(parameter->shared_name);
    writer.ParamSchema(*parameter, "");
  }
  json.EndObject();
  json.RawMember("securityDefinitions", kSecurity);
  json.RawMember("security", R"([{"BearerToken":[]}])");
  json.EndObject();
  return text;
}

}  // namespace cox::apiserver::openapi
