// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/old_logs.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

#include "net/gzip.h"
#include "object/scalar/time.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPacked = ".gz";
// The chunk size for compression. A gzip file may consist of many members.
constexpr size_t kChunk = size_t{1} << 20;
constexpr int kGzipLevel = 6;

int64_t MillisOf(Clock::WallTime when) {
  return std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch()).count();
}

// "2026-01-02T15-04-05.000".
std::string Stamp(int64_t millis) {
  std::string text = MicroTime::FromUnixNanos(millis * 1'000'000).ToString();
  text.resize(text.size() - 4);  // "000Z"
  text[13] = text[16] = '-';
  return text;
}

std::optional<int64_t> ReadStamp(std::string_view text) {
  constexpr size_t kSize = std::string_view("2026-01-02T15-04-05.000").size();
  if (text.size() != kSize) return std::nullopt;
  std::string time(text);
  time[13] = time[16] = ':';
  const Result<Time> parsed = Time::Parse(time + "Z");
  // A time stamp that does not round-trip was not written by LogFile.
  if (!parsed.ok()) return std::nullopt;
  const int64_t millis = parsed->UnixNanos() / 1'000'000;
  return Stamp(millis) == text ? std::optional(millis) : std::nullopt;
}

struct OldLog {
  fs::path path;
  int64_t millis;
  bool packed;
};

std::vector<OldLog> FindOldLogs(const fs::path& path) {
  const std::string prefix = path.stem().string() + "-";
  const std::string suffix = path.extension().string();
  std::vector<OldLog> found;
  std::error_code error;
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    const bool packed = name.ends_with(kPacked);
    if (packed) name.resize(name.size() - kPacked.size());
    if (name.size() < prefix.size() + suffix.size() || !name.starts_with(prefix) ||
        !name.ends_with(suffix)) {
      continue;
    }
    const std::string_view stamp =
        std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (const auto millis = ReadStamp(stamp)) found.push_back({at->path(), *millis, packed});
  }
  // Newest first.
  std::sort(found.begin(), found.end(),
            [](const OldLog& a, const OldLog& b) { return a.millis > b.millis; });
  return found;
}

Status Failed(std::string_view what, const fs::path& path) {
  return Status::Internal("could not " + std::string(what) + " " + path.string());
}

// Compresses to a temporary file first, so that a crash leaves no partial file under the final
// name.
Status Pack(const fs::path& path) {
  const fs::path unfinished = path.string() + std::string(kPacked) + ".tmp";
  const fs::path packed = path.string() + std::string(kPacked);
  std::error_code error;
  {
    std::ifstream in(path, std::ios::binary);
    std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
    fs::permissions(unfinished, fs::perms::owner_read | fs::perms::owner_write, error);
    if (!in || !out || error) return Failed("pack", path);
    std::string chunk(kChunk, '\0');
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
      const auto size = static_cast<size_t>(in.gcount());
      const Bytes member =
          net::GzipPieces({Bytes(nullptr, std::string_view(chunk).substr(0, size))}, kGzipLevel);
      out.write(member.data(), static_cast<std::streamsize>(member.size()));
    }
    out.flush();
    if (in.bad() || !out) return Failed("pack", path);
  }
  fs::rename(unfinished, packed, error);
  if (error) return Failed("rename", unfinished);
  fs::remove(path, error);
  return error ? Failed("remove", path) : Status();
}

}  // namespace

fs::path BackupName(const fs::path& path, Clock::WallTime when) {
  std::error_code error;
  for (int64_t millis = MillisOf(when);; ++millis) {
    fs::path name = path.parent_path() /
                    (path.stem().string() + "-" + Stamp(millis) + path.extension().string());
    if (!fs::exists(name, error) && !fs::exists(name.string() + std::string(kPacked), error)) {
      return name;
    }
  }
}

Status TidyOldLogs(const fs::path& path, const KeepOldLogs& keep, Clock::WallTime now) {
  const int64_t oldest =
      MillisOf(now) - std::chrono::milliseconds(std::chrono::days(keep.max_age_days)).count();
  Status result;
  int64_t kept = 0;
  for (const OldLog& old : FindOldLogs(path)) {
    std::error_code error;
    if ((keep.max_backups > 0 && kept >= keep.max_backups) ||
        (keep.max_age_days > 0 && old.millis < oldest)) {
      fs::remove(old.path, error);
      if (error && result.ok()) result = Failed("remove", old.path);
      continue;
    }
    ++kept;
    if (!keep.compress || old.packed) continue;
    Status packed = Pack(old.path);
    if (!packed.ok() && result.ok()) result = std::move(packed);
  }
  return result;
}

}  // namespace cox::apiserver
