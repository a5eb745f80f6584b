// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/log_options.h"

#include "apiserver/registry/validation/field_checks.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kAll = "All";
constexpr std::string_view kStdout = "Stdout";
constexpr std::string_view kStderr = "Stderr";

void CheckStream(const core::v1::PodLogOptions& options, FieldErrorList& errors) {
  const std::string& stream = *options.stream;
  if (stream != kAll && stream != kStdout && stream != kStderr) {
    errors.push_back(
        FieldError::NotSupported(FieldPath("stream"), stream,
                                 {std::string(kAll), std::string(kStderr), std::string(kStdout)}));
  }
  if (options.tailLines && stream != kAll) {
    errors.push_back(FieldError::Forbidden(
        FieldPath(""), "`tailLines` and specific `stream` are mutually exclusive for now"));
  }
}

FieldErrorList Check(const core::v1::PodLogOptions& options) {
  FieldErrorList errors;
  if (options.tailLines && *options.tailLines < 0) {
    errors.push_back(FieldError::Invalid(FieldPath("tailLines"), *options.tailLines,
                                         "must be greater than or equal to 0"));
  }
  if (options.limitBytes && *options.limitBytes < 1) {
    errors.push_back(FieldError::Invalid(FieldPath("limitBytes"), *options.limitBytes,
                                         "must be greater than 0"));
  }
  if (options.sinceSeconds && options.sinceTime) {
    errors.push_back(FieldError::Forbidden(
        FieldPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (options.sinceSeconds && *options.sinceSeconds < 1) {
    errors.push_back(FieldError::Invalid(FieldPath("sinceSeconds"), *options.sinceSeconds,
                                         "must be greater than 0"));
  }
  if (options.stream) CheckStream(options, errors);
  return errors;
}

}  // namespace

Result<core::v1::PodLogOptions> ReadLogOptions(const Query& query, const std::string& pod) {
  core::v1::PodLogOptions options;
  options.container = query.Get("container");
  options.follow = query.Flag("follow");
  options.previous = query.Flag("previous");
  options.timestamps = query.Flag("timestamps");
  options.insecureSkipTLSVerifyBackend = query.Flag("insecureSkipTLSVerifyBackend");
  COX_ASSIGN_OR_RETURN(options.sinceSeconds, query.Int("sinceSeconds"));
  COX_ASSIGN_OR_RETURN(options.tailLines, query.Int("tailLines"));
  COX_ASSIGN_OR_RETURN(options.limitBytes, query.Int("limitBytes"));
  if (const std::string* since = query.Find("sinceTime"); since != nullptr && !since->empty()) {
    COX_ASSIGN_OR_RETURN(options.sinceTime, Time::Parse(*since));
  }
  if (const std::string* stream = query.Find("stream")) options.stream = *stream;
  const FieldErrorList errors = Check(options);
  if (errors.empty()) return options;
  return NewInvalid("", "PodLogOptions", pod, errors);
}

}  // namespace cox::apiserver
