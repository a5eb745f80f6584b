// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/core/v1.h"
#include "api/events/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "base/strings.h"
#include "object/type/equal.h"

// Two groups share one storage: core/v1 (the hub) accepts incomplete events, events.k8s.io/v1
// requires complete events of which only the series changes. The group of the request determines
// the rules.
namespace cox::apiserver {
namespace {

using core::v1::Event;
using NewEvent = events::v1::Event;

constexpr size_t kMaxNameLength = 128;  // of action, reason, reportingInstance
constexpr size_t kMaxMessageLength = 1024;
constexpr int64_t kTtlSeconds = 60 * 60;

bool IsEventsGroupRequest(const WriteContext& w) { return w.served_as == &NewEvent::kKind; }

Object NewToHub(const Object& object) {
  const NewEvent& in = *object.As<NewEvent>();
  Event out;
  out.metadata = in.metadata;
  out.involvedObject = in.regarding;
  out.reason = in.reason;
  out.message = in.note;
  out.source = in.deprecatedSource;
  out.firstTimestamp = in.deprecatedFirstTimestamp;
  out.lastTimestamp = in.deprecatedLastTimestamp;
  out.count = in.deprecatedCount;
  out.type = in.type;
  out.eventTime = in.eventTime;
  if (in.series) {
    out.series = core::v1::EventSeries{.count = in.series->count,
                                       .lastObservedTime = in.series->lastObservedTime};
  }
  out.action = in.action;
  out.related = in.related;
  out.reportingComponent = in.reportingController;
  out.reportingInstance = in.reportingInstance;
  return Object::Of(std::move(out));
}

Object HubToNew(const Object& hub) {
  const Event& in = *hub.As<Event>();
  NewEvent out;
  out.metadata = in.metadata;
  out.eventTime = in.eventTime;
  if (in.series) {
    out.series = events::v1::EventSeries{.count = in.series->count,
                                         .lastObservedTime = in.series->lastObservedTime};
  }
  out.reportingController = in.reportingComponent;
  out.reportingInstance = in.reportingInstance;
  out.action = in.action;
  out.reason = in.reason;
  out.regarding = in.involvedObject;
  out.related = in.related;
  out.note = in.message;
  out.type = in.type;
  out.deprecatedSource = in.source;
  out.deprecatedFirstTimestamp = in.firstTimestamp;
  out.deprecatedLastTimestamp = in.lastTimestamp;
  out.deprecatedCount = in.count;
  return Object::Of(std::move(out));
}

// An event is in the namespace of the object that it is about.
void CheckNamespace(FieldErrorList& errors, const Event& event) {
  const std::string& of_event = event.metadata.namespace_;
  const std::string& of_object = event.involvedObject.namespace_;
  bool fits;
  if (!event.eventTime.IsZero()) {
    fits = !of_object.empty() || of_event == "default" || of_event == "kube-system";
  } else if (of_object.empty()) {
    fits = of_event.empty() || of_event == "default";
  } else {
    fits = of_object == of_event;
  }
  if (fits) return;
  errors.push_back(FieldError::Invalid(FieldPath("involvedObject").Child("namespace"), of_object,
                                       "does not match event.namespace"));
}

// The error does not contain text that is too long.
void CheckLength(FieldErrorList& errors, std::string_view name, std::string_view value,
                 size_t max) {
  if (value.size() <= max) return;
  errors.push_back(FieldError::Invalid(FieldPath(name), "",
                                       "can have at most " + std::to_string(max) + " characters"));
}

void CheckName(FieldErrorList& errors, std::string_view name, std::string_view value) {
  if (value.empty()) errors.push_back(FieldError::Required(FieldPath(name)));
  CheckLength(errors, name, value, kMaxNameLength);
}

// The rules of both groups. Events with an eventTime are of the new style, whatever the group.
FieldErrorList CheckCommon(const Event& event, bool new_group) {
  FieldErrorList errors;
  CheckNamespace(errors, event);
  if (!event.eventTime.IsZero()) {
    FieldPath reporter(new_group ? "reportingController" : "reportingComponent");
    if (event.reportingComponent.empty()) errors.push_back(FieldError::Required(reporter));
    AppendInvalid(errors, reporter, event.reportingComponent,
                  validation::IsQualifiedName(event.reportingComponent));
    CheckName(errors, "reportingInstance", event.reportingInstance);
    CheckName(errors, "action", event.action);
    CheckName(errors, "reason", event.reason);
    CheckLength(errors, "message", event.message, kMaxMessageLength);
  }
  AppendInvalid(errors, FieldPath("namespace"), event.metadata.namespace_,
                validation::IsDNS1123Subdomain(event.metadata.namespace_));
  return errors;
}

FieldErrorList CheckNewStyle(const Event& event) {
  FieldErrorList errors;
  auto invalid = [&errors](const FieldPath& path, std::string text) {
    errors.push_back(FieldError::Invalid(path, "", std::move(text)));
  };
  constexpr const char* kUnset = "needs to be unset";
  if (event.eventTime.IsZero()) errors.push_back(FieldError::Required(FieldPath("eventTime")));
  if (event.type != "Normal" && event.type != "Warning") {
    invalid(FieldPath("type"), "has invalid value: " + event.type);
  }
  if (!event.firstTimestamp.IsZero()) invalid(FieldPath("firstTimestamp"), kUnset);
  if (!event.lastTimestamp.IsZero()) invalid(FieldPath("lastTimestamp"), kUnset);
  if (event.count != 0) invalid(FieldPath("count"), kUnset);
  if (!event.source.component.empty() || !event.source.host.empty()) {
    invalid(FieldPath("source"), kUnset);
  }
  if (event.series) {
    FieldPath series("series");
    if (event.series->count < 2) invalid(series.Child("count"), "should be at least 2");
    if (event.series->lastObservedTime.IsZero()) {
      errors.push_back(FieldError::Required(series.Child("lastObservedTime")));
    }
  }
  return errors;
}

int64_t Micros(const MicroTime& time) {
  return time.unix_seconds() * 1'000'000 + time.nanos() / 1000;
}

// All fields except the series are immutable.
FieldErrorList CheckImmutable(const Event& event, const Event& old) {
  FieldErrorList errors;
  auto same = [&errors](std::string_view name, bool equal, FieldValue value) {
    if (!equal) errors.push_back(validation::ImmutableField(FieldPath(name), std::move(value)));
  };
  auto time = [](const auto& t) {
    return t.IsZero() ? FieldValue(nullptr) : FieldValue(t.ToString());
  };
  same("involvedObject", DeepEqual(event.involvedObject, old.involvedObject),
       InternalValue(event.involvedObject));
  same("reason", event.reason == old.reason, event.reason);
  same("message", event.message == old.message, event.message);
  same("source", DeepEqual(event.source, old.source), InternalValue(event.source));
  same("firstTimestamp", event.firstTimestamp == old.firstTimestamp, time(event.firstTimestamp));
  same("lastTimestamp", event.lastTimestamp == old.lastTimestamp, time(event.lastTimestamp));
  same("count", event.count == old.count, event.count);
  same("type", event.type == old.type, event.type);
  // The wire format has a precision of microseconds.
  same("eventTime", Micros(event.eventTime) == Micros(old.eventTime), time(event.eventTime));
  same("action", event.action == old.action, event.action);
  bool related = event.related.has_value() == old.related.has_value() &&
                 (!event.related || DeepEqual(*event.related, *old.related));
  same("related", related, event.related ? InternalValue(*event.related) : FieldValue(nullptr));
  same("reportingController", event.reportingComponent == old.reportingComponent,
       event.reportingComponent);
  same("reportingInstance", event.reportingInstance == old.reportingInstance,
       event.reportingInstance);
  return errors;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// "kubelet, node-1".
std::string SourceText(const Event& event) {
  const std::string& component =
      event.source.component.empty() ? event.reportingComponent : event.source.component;
  const std::string& host = event.source.host.empty() ? event.reportingInstance : event.source.host;
  return host.empty() ? component : component + ", " + host;
}

constexpr std::string_view kFieldNames[] = {
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.fieldPath",
    "involvedObject.resourceVersion",
    "reason",
    "reportingComponent",
    "source",
    "type",
};

constexpr std::pair<std::string_view, std::string_view> kNewFieldLabels[] = {
    {"regarding.kind", "involvedObject.kind"},
    {"regarding.namespace", "involvedObject.namespace"},
    {"regarding.name", "involvedObject.name"},
    {"regarding.uid", "involvedObject.uid"},
    {"regarding.apiVersion", "involvedObject.apiVersion"},
    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"regarding.fieldPath", "involvedObject.fieldPath"},
    {"reason", "reason"},
    {"reportingController", "reportingComponent"},
    {"type", "type"},
};

// The Event kind of events.k8s.io.
class EventsGroupVersion final : public ServedVersion {
 public:
  const KindInfo& kind() const override { return NewEvent::kKind; }
  Object ToHub(const Object& object) const override { return NewToHub(object); }
  Object FromHub(const Object& hub) const override { return HubToNew(hub); }
  FieldLabels field_labels() const override { return kNewFieldLabels; }
};

class EventStrategy final : public StrategyOf<Event> {
 public:
  std::string_view storage_prefix() const override { return "events"; }
  // Names consist of another object's name and a time, and may be any path segment.
  validation::NameRule name_rule() const override { return validation::NameIsPathSegment; }
  bool AllowCreateOnUpdate() const override { return true; }
  int64_t TtlSeconds(const Object&) const override { return kTtlSeconds; }

  std::span<const ServedVersion* const> Versions() const override {
    static const EventsGroupVersion kEventsGroup;
    static const ServedVersion* const kVersions[] = {&kEventsGroup};
    return kVersions;
  }
  std::span<const std::string_view> FieldNames() const override { return kFieldNames; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        {.name = "Last Seen", .type = "string"},
        {.name = "Type", .type = "string"},
        {.name = "Reason", .type = "string"},
        {.name = "Object", .type = "string"},
        {.name = "Subobject", .type = "string", .priority = 1},
        {.name = "Source", .type = "string", .priority = 1},
        {.name = "Message", .type = "string"},
        {.name = "First Seen", .type = "string", .priority = 1},
        {.name = "Count", .type = "string", .priority = 1},
        {.name = "Name", .type = "string", .format = "name", .priority = 1},
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext& w, const Event& event) const override {
    FieldErrorList errors = CheckCommon(event, IsEventsGroupRequest(w));
    if (IsEventsGroupRequest(w)) Append(errors, CheckNewStyle(event));
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const Event& event,
                             const Event& old) const override {
    FieldErrorList errors = CheckCommon(event, IsEventsGroupRequest(w));
    if (IsEventsGroupRequest(w)) Append(errors, CheckImmutable(event, old));
    return errors;
  }

  FieldPairs FieldsOf(const Event& event) const override {
    const core::v1::ObjectReference& about = event.involvedObject;
    const std::string& source =
        event.source.component.empty() ? event.reportingComponent : event.source.component;
    return {{"involvedObject.kind", about.kind},
            {"involvedObject.namespace", about.namespace_},
            {"involvedObject.name", about.name},
            {"involvedObject.uid", about.uid},
            {"involvedObject.apiVersion", about.apiVersion},
            {"involvedObject.fieldPath", about.fieldPath},
            {"involvedObject.resourceVersion", about.resourceVersion},
            {"reason", event.reason},
            {"reportingComponent", event.reportingComponent},
            {"source", source},
            {"type", event.type}};
  }

  Cells RowOf(const Event& event, const Time& now) const override {
    std::string first = event.firstTimestamp.IsZero() ? Age(event.eventTime.ToTime(), now)
                                                      : Age(event.firstTimestamp, now);
    std::string last = event.lastTimestamp.IsZero() ? first : Age(event.lastTimestamp, now);
    int64_t count = event.count;
    if (event.series) {
      last = Age(event.series->lastObservedTime.ToTime(), now);
      count = event.series->count;
    } else if (count == 0) {
      count = 1;  // new-style events without a series occurred once
    }
    std::string about = Lower(event.involvedObject.kind);
    if (!event.involvedObject.name.empty()) about += "/" + event.involvedObject.name;
    return {last,
            event.type,
            event.reason,
            about,
            event.involvedObject.fieldPath,
            SourceText(event),
            TrimSpace(event.message),
            first,
            count,
            event.metadata.name};
  }
};

}  // namespace

StrategyPtr NewEventStrategy() { return std::make_unique<EventStrategy>(); }

}  // namespace cox::apiserver
