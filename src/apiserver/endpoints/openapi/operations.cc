// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/operations.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace cox::apiserver::openapi {
namespace {

constexpr int kOk[] = {200};
constexpr int kCreated[] = {200, 201, 202};
constexpr int kReplaced[] = {200, 201};
constexpr int kDeleted[] = {200, 202};

constexpr std::string_view kStatus = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
constexpr std::string_view kDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
constexpr std::string_view kPatchBody = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
constexpr std::string_view kWatchEvent = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";

struct GroupResource {
  std::string_view group, resource;
};
// DELETE returns the object for these, a Status for all others.
constexpr GroupResource kRespondWithObject[] = {
    {"", "persistentvolumeclaims"},
    {"", "persistentvolumes"},
    {"", "pods"},
    {"", "podtemplates"},
    {"", "resourcequotas"},
    {"", "serviceaccounts"},
    {"", "services"},
    {"resource.k8s.io", "deviceclasses"},
    {"resource.k8s.io", "devicetaintrules"},
    {"resource.k8s.io", "resourceclaims"},
    {"resource.k8s.io", "resourceclaimtemplates"},
    {"resource.k8s.io", "resourcepoolstatusrequests"},
    {"resource.k8s.io", "resourceslices"},
    {"storage.k8s.io", "csidrivers"},
    {"storage.k8s.io", "csinodes"},
    {"storage.k8s.io", "storageclasses"},
    {"storage.k8s.io", "volumeattachments"},
    {"storage.k8s.io", "volumeattributesclasses"},
};

bool Has(std::span<const std::string_view> verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

std::string Title(std::string_view text) {
  std::string title(text);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] -= 'a' - 'A';
  return title;
}

// "rbacAuthorization" for "rbac.authorization.k8s.io", "core" for the core group.
std::string GroupWord(std::string_view group) {
  if (group.empty()) return "core";
  if (group.ends_with(".k8s.io")) group.remove_suffix(7);
  std::string word;
  for (const std::string_view part : Split(group, '.')) {
    word += word.empty() ? std::string(part) : Title(part);
  }
  return word;
}

std::string VersionPath(std::string_view group, std::string_view version) {
  std::string path = group.empty() ? "/api/" : "/apis/" + std::string(group) + "/";
  return path.append(version);
}

void Append(std::span<const Parameter* const> more, std::vector<const Parameter*>* parameters) {
  parameters->insert(parameters->end(), more.begin(), more.end());
}

void SortByName(std::vector<const Parameter*>* parameters) {
  std::stable_sort(parameters->begin(), parameters->end(),
                   [](const Parameter* a, const Parameter* b) { return a->name < b->name; });
}

// Moves parameters that are common to all operations of a path to the path.
void Hoist(PathItem* item) {
  std::vector<const Parameter*> common = item->operations.front().parameters;
  for (const Operation& operation : item->operations) {
    std::erase_if(common, [&](const Parameter* parameter) {
      return std::find(operation.parameters.begin(), operation.parameters.end(), parameter) ==
             operation.parameters.end();
    });
  }
  for (Operation& operation : item->operations) {
    std::erase_if(operation.parameters, [&](const Parameter* parameter) {
      return std::find(common.begin(), common.end(), parameter) != common.end();
    });
    SortByName(&operation.parameters);
  }
  Append(common, &item->parameters);
  SortByName(&item->parameters);
}

}  // namespace

std::span<const std::string_view> MediaTypes(Media media) {
  static constexpr std::string_view kAny[] = {"*/*"};
  static constexpr std::string_view kObject[] = {"application/json", "application/yaml",
                                                 "application/vnd.kubernetes.protobuf"};
  static constexpr std::string_view kList[] = {
      "application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
      "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"};
  static constexpr std::string_view kText[] = {"text/plain", "application/json", "application/yaml",
                                               "application/vnd.kubernetes.protobuf"};
  static constexpr std::string_view kPatch[] = {
      "application/json-patch+json", "application/merge-patch+json",
      "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
  static constexpr std::string_view kCustomPatch[] = {"application/json-patch+json",
                                                      "application/merge-patch+json",
                                                      "application/apply-patch+yaml"};
  static constexpr std::string_view kKeys[] = {"application/jwk-set+json"};
  switch (media) {
    case Media::kNone:
      return {};
    case Media::kAny:
      return kAny;
    case Media::kObject:
      return kObject;
    case Media::kList:
      return kList;
    case Media::kText:
      return kText;
    case Media::kPatch:
      return kPatch;
    case Media::kCustomPatch:
      return kCustomPatch;
    case Media::kJson:
      return std::span(kObject).first(1);
    case Media::kKeys:
      return kKeys;
  }
  return {};
}

Operations::Operations(const ServedSet& served, const Schemas& schemas) : schemas_(schemas) {
  AddServer();
  for (const auto& [name, group] : served.groups()) AddGroup(*group);
  Finish();
}

Operations::Operations(const ServedGroup& group, const Schemas& schemas) : schemas_(schemas) {
  AddGroup(group);
  Finish();
}

Operations::Operations(const Schemas& schemas) : schemas_(schemas) {
  AddServer();
  Finish();
}

void Operations::Finish() {
  for (PathItem& item : paths_) Hoist(&item);
  std::sort(paths_.begin(), paths_.end(),
            [](const PathItem& a, const PathItem& b) { return a.path < b.path; });
}

void Operations::AddDocument(std::string path, std::string document, std::string tag,
                             Operation operation) {
  operation.method = "get";
  operation.ok_status = kOk;
  PathItem& item = paths_.emplace_back();
  item.path = std::move(path);
  item.document = std::move(document);
  item.tag = std::move(tag);
  item.operations.push_back(std::move(operation));
}

void Operations::AddServer() {
  const auto meta = [this](std::string_view name) {
    return schemas_.NameOf(*FindType("meta.k8s.io", "v1", name));
  };
  AddDocument("/api/", "api", "core",
              {.id = "getCoreAPIVersions",
               .description = "get available API versions",
               .consumes = Media::kObject,
               .answer = meta("APIVersions")});
  AddDocument("/apis/", "apis", "apis",
              {.id = "getAPIVersions",
               .description = "get available API versions",
               .consumes = Media::kObject,
               .answer = meta("APIGroupList")});
  AddDocument("/version/", "version", "version",
              {.id = "getCodeVersion",
               .description = "get the version information for this server",
               .consumes = Media::kJson,
               .produces = Media::kJson,
               .answer = "io.k8s.apimachinery.pkg.version.Info"});
  AddDocument("/.well-known/openid-configuration/", ".well-known/openid-configuration", "WellKnown",
              {.id = "getServiceAccountIssuerOpenIDConfiguration",
               .description = "get service account issuer OpenID configuration, also known as the "
                              "'OIDC discovery doc'",
               .produces = Media::kJson});
  AddDocument("/openid/v1/jwks/", "openid/v1/jwks", "openid",
              {.id = "getServiceAccountIssuerOpenIDKeyset",
               .description = "get service account issuer OpenID JSON Web Key Set (contains public "
                              "token verification keys)",
               .produces = Media::kKeys});
}

void Operations::AddGroup(const ServedGroup& group) {
  const std::string& name = group.name();
  const std::string word = GroupWord(name);
  // Groups that are defined at run time have no group and version documents.
  const bool custom = group.custom();
  if (!name.empty() && !custom) {
    AddDocument("/apis/" + name + "/", "apis/" + name, word,
                {.id = "get" + Title(word) + "APIGroup",
                 .description = "get information of a group",
                 .consumes = Media::kObject,
                 .answer = schemas_.NameOf(*FindType("meta.k8s.io", "v1", "APIGroup"))});
  }
  for (const std::string& version : group.versions()) {
    const std::string path = VersionPath(name, version);
    if (!custom) {
      AddDocument(path + "/", path.substr(1), word + "_" + version,
                  {.id = "get" + Title(word) + Title(version) + "APIResources",
                   .description = "get available resources",
                   .consumes = Media::kObject,
                   .answer = schemas_.NameOf(*FindType("meta.k8s.io", "v1", "APIResourceList"))});
    }
    for (const ServedKind& served : group.kinds()) {
      if (served.kind->version == version) AddKind(served);
    }
  }
}

void Operations::AddKind(const ServedKind& served) {
  const KindInfo& kind = *served.kind;
  AddCollection(kind);
  AddItem(kind);
  for (const SubresourceInfo& sub : kind.subresources) {
    // The kinds of streams and proxies are options kinds, such as PodExecOptions.
    if (sub.kind.ends_with("Options")) {
      AddConnect(kind, sub);
    } else {
      AddSubresource(kind, sub);
    }
  }
  if (Has(kind.verbs, "watch") && !served.custom) AddWatch(kind);
}

const Type* Operations::FindType(std::string_view group, std::string_view version,
                                 std::string_view kind) const {
  for (const KindInfo* info : AllKinds()) {
    if (info->group == group && info->version == version && info->kind == kind) return info->type;
  }
  return &types::kAny;
}

std::string_view Operations::DefinitionOf(std::string_view group, std::string_view version,
                                          std::string_view kind) const {
  return schemas_.NameOf(*FindType(group, version, kind));
}

PathItem& Operations::NewPath(const KindInfo& kind, std::string path) {
  PathItem& item = paths_.emplace_back();
  item.path = std::move(path);
  item.document = VersionPath(kind.group, kind.version).substr(1);
  item.tag = GroupWord(kind.group) + "_" + std::string(kind.version);
  item.kind = kind.kind;
  if (item.path.find("{namespace}") != std::string::npos) {
    item.parameters.push_back(&kNamespaceParameter);
  }
  if (item.path.find("{name}") != std::string::npos) item.parameters.push_back(&kNameParameter);
  return item;
}

Operation Operations::NewOperation(const KindInfo& kind, std::string_view method,
                                   std::string_view verb, std::string_view action) const {
  Operation operation;
  operation.method = method;
  operation.id = std::string(verb) + Title(GroupWord(kind.group)) + Title(kind.version);
  operation.action = action;
  operation.group = kind.group;
  operation.version = kind.version;
  operation.kind = kind.kind;
  operation.parameters = {&kPrettyParameter};
  operation.consumes = Media::kAny;
  operation.ok_status = kOk;
  return operation;
}

void Operations::AddCollection(const KindInfo& kind) {
  const std::string base = VersionPath(kind.group, kind.version) + "/";
  const std::string name(kind.kind);
  const std::string scoped = (kind.namespaced ? "Namespaced" : "") + name;
  const std::string list_kind = name + "List";
  const std::string_view list = DefinitionOf(kind.group, kind.version, list_kind);
  auto add_list = [&](PathItem& item, const std::string& suffix) {
    Operation& op = item.operations.emplace_back(NewOperation(kind, "get", "list", "list"));
    op.id += suffix;
    op.description = "list or watch objects of kind " + name;
    Append(ListParameters(), &op.parameters);
    op.produces = Media::kList;
    op.answer = list;
  };
  if (kind.namespaced && Has(kind.verbs, "list")) {
    add_list(NewPath(kind, base + std::string(kind.plural)), name + "ForAllNamespaces");
  }
  if (!Has(kind.verbs, "list") && !Has(kind.verbs, "create")) return;
  PathItem& item = NewPath(
      kind, base + (kind.namespaced ? "namespaces/{namespace}/" : "") + std::string(kind.plural));
  if (Has(kind.verbs, "list")) add_list(item, scoped);
  if (Has(kind.verbs, "create")) {
    Operation& op = item.operations.emplace_back(NewOperation(kind, "post", "create", "post"));
    op.id += scoped;
    op.description = "create a " + name;
    Append(WriteParameters(), &op.parameters);
    op.body = op.answer = schemas_.NameOf(*kind.type);
    op.body_required = true;
    op.ok_status = kCreated;
  }
  if (Has(kind.verbs, "deletecollection")) {
    Operation& op =
        item.operations.emplace_back(NewOperation(kind, "delete", "delete", "deletecollection"));
    op.id += "Collection" + scoped;
    op.description = "delete collection of " + name;
    Append(DeleteCollectionParameters(), &op.parameters);
    op.body = kDeleteOptions;
    op.answer = kStatus;
  }
}

void Operations::AddItem(const KindInfo& kind) {
  if (!Has(kind.verbs, "get")) return;
  const std::string name(kind.kind);
  const std::string scoped = (kind.namespaced ? "Namespaced" : "") + name;
  const std::string_view definition = schemas_.NameOf(*kind.type);
  PathItem& item = NewPath(kind, VersionPath(kind.group, kind.version) + "/" +
                                     (kind.namespaced ? "namespaces/{namespace}/" : "") +
                                     std::string(kind.plural) + "/{name}");
  auto add = [&](std::string_view method, std::string_view verb, std::string_view action,
                 std::string_view description) -> Operation& {
    Operation& op = item.operations.emplace_back(NewOperation(kind, method, verb, action));
    op.id += scoped;
    op.description = std::string(description) + name;
    op.answer = definition;
    return op;
  };
  add("get", "read", "get", "read the specified ");
  if (Has(kind.verbs, "update")) {
    Operation& op = add("put", "replace", "put", "replace the specified ");
    Append(WriteParameters(), &op.parameters);
    op.body = definition;
    op.body_required = true;
    op.ok_status = kReplaced;
  }
  if (Has(kind.verbs, "patch")) {
    Operation& op = add("patch", "patch", "patch", "partially update the specified ");
    Append(PatchParameters(), &op.parameters);
    op.consumes = Media::kPatch;
    op.body = kPatchBody;
    op.body_required = true;
    op.ok_status = kReplaced;
  }
  if (Has(kind.verbs, "delete")) {
    Operation& op = add("delete", "delete", "delete", "delete a ");
    Append(DeleteParameters(), &op.parameters);
    op.body = kDeleteOptions;
    op.ok_status = kDeleted;
    const bool object = std::any_of(
        std::begin(kRespondWithObject), std::end(kRespondWithObject),
        [&](const auto& row) { return row.group == kind.group && row.resource == kind.plural; });
    if (!object) op.answer = kStatus;
  }
}

void Operations::AddSubresource(const KindInfo& kind, const SubresourceInfo& sub) {
  const std::string name(kind.kind);
  const std::string scoped = (kind.namespaced ? "Namespaced" : "") + name + Title(sub.name);
  const std::string_view definition = DefinitionOf(sub.group, sub.version, sub.kind);
  PathItem& item = NewPath(kind, VersionPath(kind.group, kind.version) + "/" +
                                     (kind.namespaced ? "namespaces/{namespace}/" : "") +
                                     std::string(kind.plural) + "/{name}/" + std::string(sub.name));
  auto add = [&](std::string_view method, std::string_view verb, std::string_view action,
                 std::string_view description) -> Operation& {
    Operation& op = item.operations.emplace_back(NewOperation(kind, method, verb, action));
    op.id += scoped;
    op.description =
        std::string(description) + " " + std::string(sub.name) + " of the specified " + name;
    op.group = sub.group;
    op.version = sub.version;
    op.kind = sub.kind;
    op.answer = definition;
    return op;
  };
  if (Has(sub.verbs, "get")) {
    Operation& op = add("get", "read", "get", "read");
    if (sub.name == "log") {
      Append(OptionParameters("PodLogOptions"), &op.parameters);
      op.produces = Media::kText;
      op.answer = {};
    }
  }
  for (const std::string_view verb : {"create", "update", "patch"}) {
    if (!Has(sub.verbs, verb)) continue;
    const bool patch = verb == "patch", create = verb == "create";
    Operation& op = patch    ? add("patch", "patch", "patch", "partially update")
                    : create ? add("post", "create", "post", "create")
                             : add("put", "replace", "put", "replace");
    Append(patch ? PatchParameters() : WriteParameters(), &op.parameters);
    op.body = patch ? kPatchBody : definition;
    op.body_required = true;
    if (patch) op.consumes = Media::kPatch;
    op.ok_status = create ? std::span<const int>(kCreated) : std::span<const int>(kReplaced);
  }
}

// The fields of an options kind are the query parameters of its requests.
std::vector<const Parameter*> Operations::OptionParameters(std::string_view kind) {
  std::vector<const Parameter*> parameters;
  for (const Field& field : FindType("", "v1", kind)->fields) {
    const Type& type = field.type->shape == Shape::kList ? *field.type->element : *field.type;
    if (type.shape == Shape::kTime) continue;  // has no query encoding
    std::string_view name = "string";
    if (type.shape == Shape::kBool) name = "boolean";
    if (type.shape == Shape::kInt32 || type.shape == Shape::kInt64) name = "integer";
    const std::string key = "core/v1." + std::string(kind) + "." + std::string(field.name);
    options_.push_back(
        {.name = field.name, .in = "query", .type = name, .description = Description(key)});
    parameters.push_back(&options_.back());
  }
  return parameters;
}

void Operations::AddConnect(const KindInfo& kind, const SubresourceInfo& sub) {
  const std::vector<const Parameter*> options = OptionParameters(sub.kind);
  const bool proxy = sub.name == "proxy";
  for (const bool with_path : {false, true}) {
    if (with_path && !proxy) continue;
    PathItem& item = NewPath(kind, VersionPath(kind.group, kind.version) + "/" +
                                       (kind.namespaced ? "namespaces/{namespace}/" : "") +
                                       std::string(kind.plural) + "/{name}/" +
                                       std::string(sub.name) + (with_path ? "/{path}" : ""));
    if (with_path) item.parameters.push_back(&kPathParameter);
    for (const std::string_view method :
         {"get", "put", "post", "delete", "options", "head", "patch"}) {
      if (!proxy && method != "get" && method != "post") continue;
      std::string upper(method);
      for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
      Operation& op =
          item.operations.emplace_back(NewOperation(kind, method, "connect", "connect"));
      op.id += Title(method) + (kind.namespaced ? "Namespaced" : "") + std::string(kind.kind) +
               Title(sub.name) + (with_path ? "WithPath" : "");
      op.description = "connect " + upper + " requests to " + std::string(sub.name) + " of " +
                       std::string(kind.kind);
      op.group = sub.group;
      op.version = sub.version;
      op.kind = sub.kind;
      op.parameters = options;
      op.produces = Media::kAny;
      op.answer = {};
    }
  }
}

void Operations::AddWatch(const KindInfo& kind) {
  const std::string base = VersionPath(kind.group, kind.version) + "/watch/";
  const std::string plural(kind.plural), name(kind.kind);
  const std::string space = kind.namespaced ? "namespaces/{namespace}/" : "";
  const std::string scoped = (kind.namespaced ? "Namespaced" : "") + name;
  auto add = [&](std::string path, const std::string& suffix, std::string_view action,
                 std::string_view what) {
    PathItem& item = NewPath(kind, std::move(path));
    Operation& op = item.operations.emplace_back(NewOperation(kind, "get", "watch", action));
    op.id += suffix;
    op.description = std::string(what) + name +
                     ". deprecated: use the 'watch' parameter with a list operation instead.";
    Append(ListParameters(), &op.parameters);
    op.produces = Media::kList;
    op.answer = kWatchEvent;
  };
  constexpr std::string_view kMany = "watch individual changes to a list of ";
  if (kind.namespaced) add(base + plural, name + "ListForAllNamespaces", "watchlist", kMany);
  add(base + space + plural, scoped + "List", "watchlist", kMany);
  add(base + space + plural + "/{name}", scoped, "watch", "watch changes to an object of kind ");
}

}  // namespace cox::apiserver::openapi
