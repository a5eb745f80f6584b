// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/text_diff.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr size_t kContext = 3;
constexpr size_t kPopularFrom = 200;  // texts of this many lines ignore popular lines
constexpr size_t kMaxLines = 6000;    // of both texts together, for a full match

using Lines = std::vector<std::string_view>;

// Equal lines a[i..i+size) and b[j..j+size).
struct Match {
  size_t a = 0, b = 0, size = 0;
};

// a[a1..a2) is replaced by b[b1..b2); `equal`: the lines are the same.
struct Edit {
  size_t a1, a2, b1, b2;
  bool equal;
};

class Matcher {
 public:
  Matcher(const Lines& a, const Lines& b) : a_(a), b_(b) {
    for (size_t j = 0; j < b.size(); ++j) places_[b[j]].push_back(j);
    if (b.size() < kPopularFrom) return;
    const size_t most = b.size() / 100 + 1;
    std::erase_if(places_, [&](const auto& entry) { return entry.second.size() > most; });
  }

  std::vector<Match> Matches() const {
    std::vector<Match> found;
    Collect(0, a_.size(), 0, b_.size(), found);
    return found;
  }

 private:
  // The longest run in the two ranges; of equally long runs the first in a, then in b.
  Match Longest(size_t a1, size_t a2, size_t b1, size_t b2) const {
    Match best = {a1, b1, 0};
    std::unordered_map<size_t, size_t>
        lengths;  // of runs that end at the previous line, by index in b
    for (size_t i = a1; i < a2; ++i) {
      std::unordered_map<size_t, size_t> now;
      if (auto at = places_.find(a_[i]); at != places_.end()) {
        for (size_t j : at->second) {
          if (j < b1) continue;
          if (j >= b2) break;
          auto before = j == 0 ? lengths.end() : lengths.find(j - 1);
          size_t length = (before == lengths.end() ? 0 : before->second) + 1;
          now[j] = length;
          if (length > best.size) best = {i + 1 - length, j + 1 - length, length};
        }
      }
      lengths = std::move(now);
    }
    // Extend the run by adjacent equal lines, which may be popular.
    while (best.a > a1 && best.b > b1 && a_[best.a - 1] == b_[best.b - 1])
      best = {best.a - 1, best.b - 1, best.size + 1};
    while (best.a + best.size < a2 && best.b + best.size < b2 &&
           a_[best.a + best.size] == b_[best.b + best.size])
      ++best.size;
    return best;
  }

  // Recursion depth: each step removes at least one line, and about half of the lines of typical
  // texts.
  void Collect(size_t a1, size_t a2, size_t b1, size_t b2, std::vector<Match>& found) const {
    const Match match = Longest(a1, a2, b1, b2);
    if (match.size == 0) return;
    if (a1 < match.a && b1 < match.b) Collect(a1, match.a, b1, match.b, found);
    found.push_back(match);
    if (match.a + match.size < a2 && match.b + match.size < b2)
      Collect(match.a + match.size, a2, match.b + match.size, b2, found);
  }

  const Lines& a_;
  const Lines& b_;
  std::unordered_map<std::string_view, std::vector<size_t>> places_;  // indexes of each line in b
};

// The common beginning and end, for texts that are too long for a full match.
std::vector<Match> Ends(const Lines& a, const Lines& b) {
  const size_t most = std::min(a.size(), b.size());
  size_t head = 0, tail = 0;
  while (head < most && a[head] == b[head]) ++head;
  while (tail < most - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<Match> found;
  if (head > 0) found.push_back({0, 0, head});
  if (tail > 0) found.push_back({a.size() - tail, b.size() - tail, tail});
  return found;
}

std::vector<Edit> Edits(const Lines& a, const Lines& b) {
  std::vector<Edit> edits;
  size_t i = 0, j = 0;
  std::vector<Match> matches =
      a.size() + b.size() > kMaxLines ? Ends(a, b) : Matcher(a, b).Matches();
  matches.push_back({a.size(), b.size(), 0});
  for (const Match& match : matches) {
    if (i < match.a || j < match.b) edits.push_back({i, match.a, j, match.b, false});
    i = match.a + match.size;
    j = match.b + match.size;
    if (match.size == 0) continue;
    // Merge adjacent matches.
    if (!edits.empty() && edits.back().equal && edits.back().a2 == match.a &&
        edits.back().b2 == match.b) {
      edits.back().a2 = i;
      edits.back().b2 = j;
    } else {
      edits.push_back({match.a, i, match.b, j, true});
    }
  }
  return edits;
}

// Splits the edits into hunks, with at most kContext equal lines around changes.
std::vector<std::vector<Edit>> Hunks(std::vector<Edit> edits) {
  std::vector<std::vector<Edit>> hunks;
  if (edits.empty() || (edits.size() == 1 && edits[0].equal)) return hunks;
  if (Edit& first = edits.front(); first.equal) {
    first.a1 = std::max(first.a1, first.a2 - std::min(first.a2, kContext));
    first.b1 = std::max(first.b1, first.b2 - std::min(first.b2, kContext));
  }
  if (Edit& last = edits.back(); last.equal) {
    last.a2 = std::min(last.a2, last.a1 + kContext);
    last.b2 = std::min(last.b2, last.b1 + kContext);
  }
  std::vector<Edit> hunk;
  for (Edit edit : edits) {
    if (edit.equal && edit.a2 - edit.a1 > 2 * kContext) {
      hunk.push_back({edit.a1, edit.a1 + kContext, edit.b1, edit.b1 + kContext, true});
      hunks.push_back(std::move(hunk));
      hunk.clear();
      edit.a1 = edit.a2 - kContext;
      edit.b1 = edit.b2 - kContext;
    }
    hunk.push_back(edit);
  }
  if (!hunk.empty() && !(hunk.size() == 1 && hunk[0].equal)) hunks.push_back(std::move(hunk));
  return hunks;
}

// "3,7", or "3" for one line, or "2,0" for no line after line 2.
void AppendRange(std::string& out, size_t begin, size_t end) {
  const size_t count = end - begin;
  if (count == 1) {
    out += std::to_string(begin + 1);
    return;
  }
  out += std::to_string(count == 0 ? begin : begin + 1);
  out += ',';
  out += std::to_string(count);
}

void AppendLines(std::string& out, char mark, const Lines& lines, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    out += mark;
    out += lines[i];
    out += '\n';
  }
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after) {
  Lines a, b;
  for (std::string_view line : Split(before, '\n')) a.push_back(line);
  for (std::string_view line : Split(after, '\n')) b.push_back(line);
  std::string out;
  for (const std::vector<Edit>& hunk : Hunks(Edits(a, b))) {
    out += "@@ -";
    AppendRange(out, hunk.front().a1, hunk.back().a2);
    out += " +";
    AppendRange(out, hunk.front().b1, hunk.back().b2);
    out += " @@\n";
    for (const Edit& edit : hunk) {
      if (edit.equal) {
        AppendLines(out, ' ', a, edit.a1, edit.a2);
      } else {
        AppendLines(out, '-', a, edit.a1, edit.a2);
        AppendLines(out, '+', b, edit.b1, edit.b2);
      }
    }
  }
  return out;
}

}  // namespace cox::apiserver
