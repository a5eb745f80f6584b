// SPDX-License-Identifier: Apache-2.0
// Replays recorded requests of server-side apply: from the stored object before a request and the
// request, the field manager must compute the recorded managers or the recorded error. Types come
// from the published OpenAPI definitions.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "object/apply/field_manager.h"
#include "object/apply/fields_v1.h"
#include "object/apply/managed_fields.h"
#include "object/codec/json/json.h"
#include "object/runtime_type.h"
#include "tests/paths/paths.h"

namespace cox::apply {
namespace {

const std::string kOpenApi = std::string(test::SharedDirectory()) + "/data/openapi/v3";
const std::string kScenarios = std::string(test::SharedDirectory()) + "/reference/scenarios/apply/";

Value ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Value();
  std::stringstream text;
  text << file.rdbuf();
  Result<Value> value = json::Parse(text.str());
  EXPECT_TRUE(value.ok()) << path << value.status().ToString();
  return value.ok() ? std::move(*value) : Value();
}

std::string TextAt(const Value& v, std::initializer_list<std::string_view> path) {
  const Value* at = v.At(path);
  return at != nullptr && at->is_string() ? std::string(at->as_string()) : std::string();
}

class Types {
 public:
  Types() {
    namespace fs = std::filesystem;
    std::error_code none;
    for (const auto& file : fs::directory_iterator(kOpenApi, none)) {
      Value document = ReadJson(file.path());
      const Value* schemas = document.At({"components", "schemas"});
      if (schemas == nullptr) continue;
      for (const auto& [name, schema] : schemas->as_object())
        definitions_.as_object()[name] = schema;
    }
    for (const auto& [name, definition] : definitions_.as_object()) AddKinds(name, definition);
  }

  const Type* Find(const std::string& api_version, const std::string& kind) {
    auto name = names_.find(api_version + " " + kind);
    if (name == names_.end()) return nullptr;
    auto& type = types_[name->second];
    if (type == nullptr) {
      auto made = RuntimeType::FromDefinitions(definitions_, name->second, {});
      EXPECT_TRUE(made.ok()) << name->second << made.status().ToString();
      if (!made.ok()) return nullptr;
      type = *made;
    }
    return &type->type();
  }

 private:
  void AddKinds(const std::string& name, const Value& definition) {
    const Value* kinds = definition.Find("x-kubernetes-group-version-kind");
    if (kinds == nullptr) return;
    for (const Value& kind : kinds->as_array()) {
      std::string group = TextAt(kind, {"group"});
      std::string version = (group.empty() ? "" : group + "/") + TextAt(kind, {"version"});
      names_[version + " " + TextAt(kind, {"kind"})] = name;
    }
  }

  Value definitions_ = Value::MakeObject();
  std::map<std::string, std::string> names_;
  std::map<std::string, std::shared_ptr<const RuntimeType>> types_;
};

// One line per manager; for the time, only whether it is set.
std::multiset<std::string> Owners(const Value& object) {
  std::multiset<std::string> lines;
  const Value* entries = object.At({"metadata", "managedFields"});
  if (entries == nullptr) return lines;
  for (const Value& entry : entries->as_array()) {
    lines.insert(TextAt(entry, {"manager"}) + " " + TextAt(entry, {"operation"}) + " " +
                 TextAt(entry, {"apiVersion"}) + " " + TextAt(entry, {"subresource"}) + " " +
                 (entry.Find("time") != nullptr ? "timed " : "timeless ") +
                 json::Write(*entry.Find("fieldsV1")));
  }
  return lines;
}

// The relevant parts of a recorded request.
struct Step {
  explicit Step(const Value& step) : id(TextAt(step, {"id"})), method(TextAt(step, {"method"})) {
    std::string url = TextAt(step, {"path"});
    query = url.substr(std::min(url.size(), url.find('?')));
    path = url.substr(0, url.find('?'));
    for (std::string_view name : {"/status", "/scale"}) {
      if (!path.ends_with(name)) continue;
      subresource = name.substr(1);
      path.resize(path.size() - name.size());
    }
    apply = TextAt(step, {"headers", "Content-Type"}) == "application/apply-patch+yaml";
    body = step.Find("body");
    status = static_cast<int>(step.At({"expect", "status"})->as_int());
    expected = step.At({"expect", "body"});
  }

  std::string Parameter(const std::string& name) const {
    size_t at = query.find(name + "=");
    if (at == std::string::npos) return "";
    std::string rest = query.substr(at + name.size() + 1);
    return rest.substr(0, rest.find('&'));
  }

  std::string id, method, path, query, subresource;
  bool apply = false;
  const Value* body = nullptr;
  int status = 0;
  const Value* expected = nullptr;
};

FieldSet ResetFields(const std::string& subresource) {
  auto field = [](std::string_view name) { return PathElement::Field(name); };
  if (subresource.empty()) return FieldSet{Path{field("status")}};
  return FieldSet{Path{field("spec")}, Path{field("metadata"), field("labels")}};
}

// Whether the recorded response depends on the field manager.
bool IsOurs(const Step& step) {
  if (step.status < 300) return true;
  std::string message = TextAt(*step.expected, {"message"});
  for (std::string_view start : {"Apply failed with", "failed to create typed",
                                 "invalid object type", "metadata.managedFields must"}) {
    if (message.starts_with(start)) return true;
  }
  return false;
}

void Replay(const std::string& name, size_t at_least) {
  Value scenario = ReadJson(kScenarios + name + ".json");
  if (scenario.is_null()) GTEST_SKIP() << "no reference data";
  static Types types;
  std::map<std::string, Value> stored;
  size_t checked = 0;
  for (const Value& recorded : scenario.Find("steps")->as_array()) {
    Step step(recorded);
    if (step.expected == nullptr || !IsOurs(step) || step.subresource == "scale") continue;
    Value& live = stored[step.path];
    bool writes = step.method == "PATCH" || step.method == "PUT" || step.method == "POST";
    std::string api_version = TextAt(step.status < 300 ? *step.expected : live, {"apiVersion"});
    std::string kind = TextAt(step.status < 300 ? *step.expected : live, {"kind"});
    const Type* type = types.Find(api_version, kind);
    if (writes && step.body != nullptr && step.body->is_object() && type != nullptr) {
      FieldManager manager(*type, {.api_version = api_version,
                                   .kind = kind,
                                   .subresource = step.subresource,
                                   .reset_fields = ResetFields(step.subresource)});
      Value before =
          live.is_null() ? Value::MakeObject({{"apiVersion", api_version}, {"kind", kind}}) : live;
      Result<Value> result = Status::Internal("");
      if (step.apply) {
        result = manager.Apply(before, *step.body, step.Parameter("fieldManager"),
                               step.Parameter("force") == "true", "{{time}}");
      } else if (step.status < 300) {
        Value after = *step.expected;
        DropManagedFields(&after);
        if (const Value* given = step.body->At({"metadata", "managedFields"})) {
          after.Find("metadata")->as_object()["managedFields"] = *given;
        }
        result = manager.Update(before, after, "refplay", "{{time}}");
      }
      ++checked;
      if (step.status < 300) {
        ASSERT_TRUE(result.ok()) << step.id << ": " << result.status().ToString();
        EXPECT_EQ(Owners(*result), Owners(*step.expected)) << step.id;
      } else {
        ASSERT_FALSE(result.ok()) << step.id;
        EXPECT_EQ(result.status().message(), TextAt(*step.expected, {"message"})) << step.id;
        EXPECT_EQ(result.status().code(), step.status) << step.id;
        const Value* causes = step.expected->At({"details", "causes"});
        size_t count = causes != nullptr ? causes->as_array().size() : 0;
        ASSERT_EQ(result.status().details().causes.size(), count) << step.id;
        for (size_t i = 0; i < count; ++i) {
          const StatusCause& cause = result.status().details().causes[i];
          EXPECT_EQ(cause.type, TextAt(causes->as_array()[i], {"reason"}));
          EXPECT_EQ(cause.message, TextAt(causes->as_array()[i], {"message"}));
          EXPECT_EQ(cause.field, TextAt(causes->as_array()[i], {"field"}));
        }
      }
    }
    bool dry = !step.Parameter("dryRun").empty();
    if (step.status < 300 && !dry) live = *step.expected;
  }
  EXPECT_GE(checked, at_least);
}

TEST(ScenariosTest, Basics) { Replay("basics", 25); }
TEST(ScenariosTest, Lists) { Replay("lists", 20); }
TEST(ScenariosTest, CreateKinds) { Replay("create-kinds", 30); }

}  // namespace
}  // namespace cox::apply
