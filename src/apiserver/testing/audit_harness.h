// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/filters/audit/auditor.h"
#include "apiserver/testing/fake_output.h"
#include "object/codec/json/json.h"

// For tests: an Auditor that keeps its events in memory.
namespace cox::apiserver {

class AuditHarness {
 public:
  // `policy` without its apiVersion and kind.
  AuditHarness(Clock& clock, const std::string& policy, bool strict = false) : ctx_(clock) {
    Result<AuditPolicy> parsed =
        AuditPolicy::Parse("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + policy);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    std::vector<std::unique_ptr<AuditSink>> sinks;
    sinks.push_back(NewDirectSink(ctx_, std::make_unique<FakeOutput>(output_), strict, metrics_));
    auditor_ = std::make_unique<Auditor>(ctx_, parsed.ok() ? *std::move(parsed) : AuditPolicy(),
                                         std::move(sinks), registry_);
  }

  Auditor& auditor() { return *auditor_; }
  FakeOutput::State& output() { return *output_; }
  std::string Metrics() const { return registry_.Render(); }

  std::vector<std::string> Lines() { return output_->Lines(); }
  std::vector<Value> Events() {
    std::vector<Value> events;
    for (const std::string& line : Lines()) {
      Result<Value> event = json::Parse(line);
      EXPECT_TRUE(event.ok()) << line;
      if (event.ok()) events.push_back(*std::move(event));
    }
    return events;
  }
  // For example "RequestReceived", "ResponseComplete 200".
  std::vector<std::string> Stages() {
    std::vector<std::string> stages;
    for (const Value& event : Events()) {
      std::string stage(event.Find("stage")->as_string());
      if (const Value* code = event.At({"responseStatus", "code"})) {
        stage += " " + std::to_string(code->as_int());
      }
      stages.push_back(std::move(stage));
    }
    return stages;
  }

 private:
  Context ctx_;
  MetricsRegistry own_;
  AuditMetrics metrics_{own_};
  MetricsRegistry registry_;
  std::shared_ptr<FakeOutput::State> output_ = std::make_shared<FakeOutput::State>();
  std::unique_ptr<Auditor> auditor_;
};

// The text at a path; "" if it does not exist.
inline std::string TextAt(const Value& event, std::initializer_list<std::string_view> path) {
  const Value* found = event.At(path);
  if (found == nullptr) return "";
  return found->is_string() ? std::string(found->as_string()) : json::Write(*found);
}

}  // namespace cox::apiserver
