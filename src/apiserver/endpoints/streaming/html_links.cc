// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/html_links.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct UrlAttribute {
  std::string_view element, attribute;
};

// The attributes of HTML that contain one URL.
constexpr UrlAttribute kUrlAttributes[] = {
    {"a", "href"},           {"applet", "codebase"},   {"area", "href"},
    {"audio", "src"},        {"base", "href"},         {"blockquote", "cite"},
    {"body", "background"},  {"button", "formaction"}, {"command", "icon"},
    {"del", "cite"},         {"embed", "src"},         {"form", "action"},
    {"frame", "longdesc"},   {"frame", "src"},         {"head", "profile"},
    {"html", "manifest"},    {"iframe", "src"},        {"iframe", "longdesc"},
    {"img", "longdesc"},     {"img", "src"},           {"img", "usemap"},
    {"input", "formaction"}, {"input", "src"},         {"input", "usemap"},
    {"ins", "cite"},         {"link", "href"},         {"object", "classid"},
    {"object", "codebase"},  {"object", "data"},       {"object", "usemap"},
    {"q", "cite"},           {"script", "src"},        {"source", "src"},
    {"track", "src"},        {"video", "poster"},      {"video", "src"},
};
// Elements whose content is not parsed.
constexpr std::string_view kRawTextElements[] = {"script",  "style",    "textarea", "title",
                                                 "noembed", "noframes", "xmp",      "iframe"};
// A comment begins with '<' and these characters.
constexpr std::string_view kCommentBegin = "!--";

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ContainsUrl(std::string_view element, std::string_view attribute) {
  return std::any_of(std::begin(kUrlAttributes), std::end(kUrlAttributes),
                     [&](const UrlAttribute& known) {
                       return known.element == element && known.attribute == attribute;
                     });
}

}  // namespace

std::string HtmlLinks::Write(std::string_view piece) {
  out_.reserve(piece.size());
  for (const char c : piece) Next(c);
  return std::exchange(out_, {});
}

std::string HtmlLinks::Finish() {
  GiveUpTag();
  return std::exchange(out_, {});
}

void HtmlLinks::Next(char c) {
  switch (state_) {
    case State::kText:
    case State::kMarkup:
    case State::kComment:
      return NextInText(c);
    case State::kRawText:
      return NextInRawText(c);
    default:
      return NextInTag(c);
  }
}

void HtmlLinks::NextInText(char c) {
  if (state_ == State::kText && c == '<') {
    tag_ = c;
    state_ = State::kTagOpen;
    return;
  }
  out_ += c;
  if (state_ == State::kMarkup) {
    // Only the first characters matter. The server may never send a '>'.
    if (recent_.size() < kCommentBegin.size()) recent_ += c;
    if (recent_ == kCommentBegin) {
      state_ = State::kComment;
    } else if (c == '>') {
      state_ = State::kText;
    }
  } else if (state_ == State::kComment) {
    recent_ += c;
    // "<!-->" is a complete comment: the dashes of the begin count.
    if (recent_.ends_with("-->")) state_ = State::kText;
    recent_.erase(0, recent_.size() - 2);
  }
}

void HtmlLinks::NextInRawText(char c) {
  out_ += c;
  if (recent_ == raw_end_ && (IsSpace(c) || c == '/' || c == '>')) {
    state_ = c == '>' ? State::kText : State::kMarkup;
    recent_ = "/";  // not the begin of a comment
    return;
  }
  recent_ += LowerCase(c);
  while (!recent_.empty() && !raw_end_.starts_with(recent_)) recent_.erase(0, 1);
}

void HtmlLinks::AfterTagOpen(char c) {
  if (IsLetter(c)) {
    tag_name_ = LowerCase(c);
    attributes_.clear();
    state_ = State::kTagName;
  } else if (c == '/' || c == '!' || c == '?') {
    GiveUpTag();
    recent_ = c;
    state_ = State::kMarkup;
  } else {
    const bool begins_again = c == '<';  // as in "<<a>"
    if (begins_again) tag_.pop_back();
    GiveUpTag();
    if (begins_again) NextInText(c);
  }
}

void HtmlLinks::NextInTag(char c) {
  tag_ += c;
  if (state_ == State::kTagOpen) return AfterTagOpen(c);
  if (tag_.size() > kMaxTag) return GiveUpTag();
  if (state_ == State::kQuotedValue) {
    if (c == quote_) EndValue();
    return;
  }
  if (c == '>') {
    if (state_ == State::kUnquotedValue) EndValue();
    return EndTag();
  }
  switch (state_) {
    case State::kTagName:
      if (IsSpace(c) || c == '/') {
        state_ = State::kBeforeAttribute;
      } else {
        tag_name_ += LowerCase(c);
      }
      return;
    case State::kBeforeAttribute:
    case State::kAfterAttributeName:
      if (IsSpace(c) || c == '/') return;
      if (state_ == State::kAfterAttributeName && c == '=') {
        state_ = State::kBeforeValue;
        return;
      }
      attributes_.push_back({.name = std::string(1, LowerCase(c))});
      state_ = State::kAttributeName;
      return;
    case State::kAttributeName:
      if (IsSpace(c) || c == '/') {
        state_ = State::kAfterAttributeName;
      } else if (c == '=') {
        state_ = State::kBeforeValue;
      } else {
        attributes_.back().name += LowerCase(c);
      }
      return;
    case State::kBeforeValue:
      if (IsSpace(c)) return;
      quote_ = c;
      state_ = c == '"' || c == '\'' ? State::kQuotedValue : State::kUnquotedValue;
      attributes_.back().begin = tag_.size() - (state_ == State::kUnquotedValue ? 1 : 0);
      return;
    case State::kUnquotedValue:
      if (IsSpace(c)) EndValue();
      return;
    default:
      return;
  }
}

void HtmlLinks::EndValue() {
  attributes_.back().end = tag_.size() - 1;
  state_ = State::kBeforeAttribute;
}

void HtmlLinks::EndTag() {
  out_ += RewrittenTag();
  tag_.clear();
  const bool is_raw = std::find(std::begin(kRawTextElements), std::end(kRawTextElements),
                                tag_name_) != std::end(kRawTextElements);
  state_ = is_raw ? State::kRawText : State::kText;
  raw_end_ = "</" + tag_name_;
  recent_.clear();
}

void HtmlLinks::GiveUpTag() {
  out_ += std::exchange(tag_, {});
  state_ = State::kText;
}

std::string HtmlLinks::RewrittenTag() const {
  std::string text;
  size_t copied = 0;
  for (const Attribute& attribute : attributes_) {
    if (attribute.end <= attribute.begin || !ContainsUrl(tag_name_, attribute.name)) continue;
    const std::string_view value =
        std::string_view(tag_).substr(attribute.begin, attribute.end - attribute.begin);
    const std::string url = rewrite_(TrimSpace(value));
    // Security: the new URL must not end the value.
    if (url.find_first_of("\"'<> \t\r\n") != url.npos) continue;
    text.append(tag_, copied, attribute.begin - copied).append(url);
    copied = attribute.end;
  }
  return text.append(tag_, copied);
}

}  // namespace cox::apiserver
