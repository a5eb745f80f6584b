// SPDX-License-Identifier: Apache-2.0
#include "kubelet/logs/rotate.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "base/strings.h"
#include "net/gzip.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = ".log";
constexpr std::string_view kMoved = ".log.";  // followed by the timestamp
constexpr std::string_view kPacked = ".gz";
constexpr std::string_view kUnfinished = ".tmp";
constexpr size_t kPiece = size_t{1024} * 1024;

// "20260102-030405", UTC.
std::string Stamp(Clock::WallTime now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts)};
}

// Compresses a file in pieces (each is a gzip member; readers concatenate them) and removes it.
Status Pack(const fs::path& path) {
  const fs::path unfinished = path.string() + std::string(kUnfinished);
  std::ifstream from(path, std::ios::binary);
  std::ofstream to(unfinished, std::ios::binary | std::ios::trunc);
  std::string piece;
  while (from && to) {
    piece.resize(kPiece);
    from.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<size_t>(from.gcount()));
    if (piece.empty()) break;
    const Bytes packed = net::GzipPieces({Bytes(std::move(piece))}, 6);
    to.write(packed.view().data(), static_cast<std::streamsize>(packed.view().size()));
    piece = {};
  }
  to.close();
  std::error_code error;
  if (!to || from.bad()) {
    fs::remove(unfinished, error);
    return Status::Internal("cannot pack the log " + Quote(path.string()) + ": is the disk full?");
  }
  fs::rename(unfinished, path.string() + std::string(kPacked), error);
  if (!error) fs::remove(path, error);
  return error ? Status::Internal("cannot replace the log " + Quote(path.string()) + ": " +
                                  error.message())
               : Status();
}

// The rotated files of the log at `path`.
std::vector<std::string> MovedAway(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), error)) {
    if (entry.path().string().starts_with(path + ".")) found.push_back(entry.path().string());
  }
  return found;
}

}  // namespace

RotationPlan PlanRotation(const std::string& log, std::vector<std::string> names, int max_files) {
  RotationPlan plan;
  std::sort(names.begin(), names.end());
  const std::set<std::string> all(names.begin(), names.end());
  std::vector<std::string> kept;  // oldest first, because their names are timestamps
  for (const std::string& name : names) {
    if (!name.starts_with(log + ".")) continue;
    const bool unfinished = name.ends_with(kUnfinished);
    // Already compressed, but not removed: the compression was interrupted at the end.
    if (unfinished || all.contains(name + std::string(kPacked))) {
      plan.remove.push_back(name);
    } else {
      kept.push_back(name);
    }
  }
  // Room for the current log and for the one that is rotated now.
  const auto room = static_cast<size_t>(std::max(max_files - 2, 0));
  const size_t excess = kept.size() > room ? kept.size() - room : 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i < excess) {
      plan.remove.push_back(kept[i]);
    } else if (!kept[i].ends_with(kPacked)) {
      plan.pack.push_back(kept[i]);
    }
  }
  return plan;
}

LogRotator::LogRotator(RotateOptions options, runtime::Runtime& runtime)
    : options_(std::move(options)), runtime_(runtime) {}

void LogRotator::Run(Context& ctx) {
  while (ctx.Sleep(options_.period).ok()) {
    const Status done = RotateAll(ctx);
    if (!done.ok() && !ctx.Done()) COX_ERROR(ctx.log(), done, "Could not rotate container logs");
  }
}

Status LogRotator::RotateAll(Context& ctx) {
  // <namespace>_<name>_<uid>/<container>/<attempt>.log
  std::set<std::string> large;
  std::set<std::string> lost;
  std::error_code error;
  for (const auto& pod : fs::directory_iterator(options_.pod_logs_dir, error)) {
    for (const auto& container : fs::directory_iterator(pod.path(), error)) {
      std::set<std::string> there;
      std::set<std::string> moved;
      for (const auto& log : fs::directory_iterator(container.path(), error)) {
        const std::string path = log.path().string();
        const std::string name = log.path().filename().string();
        if (const size_t end = name.find(kMoved); end != std::string::npos) {
          moved.insert((container.path() / name.substr(0, end + kLog.size())).string());
        }
        if (log.path().extension() != kLog) continue;
        there.insert(path);
        if (!log.is_regular_file(error)) continue;
        if (static_cast<int64_t>(log.file_size(error)) > options_.max_bytes && !error) {
          large.insert(path);
        }
      }
      std::set_difference(moved.begin(), moved.end(), there.begin(), there.end(),
                          std::inserter(lost, lost.end()));
    }
  }
  if (large.empty() && lost.empty()) return {};
  COX_ASSIGN_OR_RETURN(const auto pods, runtime_.ListPods(ctx));
  Status first;
  std::set<std::string> known;
  for (const runtime::PodState& pod : pods) {
    const std::string folder =
        (fs::path(options_.pod_logs_dir) / (pod.ns + "_" + pod.name + "_" + pod.uid)).string();
    known.insert(folder);
    for (const runtime::ContainerState& container : pod.containers) {
      const std::string path = folder + "/" + container.name + "/" +
                               std::to_string(container.attempt) + std::string(kLog);
      const bool is_lost = lost.erase(path) > 0;
      if (container.phase != runtime::ContainerState::Phase::kRunning) continue;
      Status done;
      if (large.contains(path)) {
        done = Rotate(ctx, container.id, path);
      } else if (is_lost) {
        // The rotation was interrupted before ReopenContainerLog.
        done = runtime_.ReopenLog(ctx, container.id);
      }
      if (!done.ok() && first.ok()) first = std::move(done);
    }
  }
  // Remove rotated logs of removed containers. Directories of Pods are removed with the Pods.
  for (const std::string& path : lost) {
    if (!known.contains(fs::path(path).parent_path().parent_path().string())) continue;
    for (const std::string& moved : MovedAway(path)) fs::remove(moved, error);
  }
  return first;
}

Status LogRotator::Rotate(Context& ctx, const std::string& id, const std::string& path) {
  const fs::path log = path;
  const fs::path folder = log.parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename());
  }
  const RotationPlan plan = PlanRotation(log.filename(), std::move(names), options_.max_files);
  for (const std::string& name : plan.remove) fs::remove(folder / name, error);
  for (const std::string& name : plan.pack) COX_RETURN_IF_ERROR(Pack(folder / name));
  const fs::path moved = path + "." + Stamp(ctx.clock().Now());
  fs::rename(log, moved, error);
  if (error) return Status::Internal("cannot move " + Quote(path) + ": " + error.message());
  const Status reopened = runtime_.ReopenLog(ctx, id);
  if (reopened.ok()) return {};
  // The runtime still writes to the renamed file. Renaming it back loses no lines.
  if (!fs::exists(log, error)) fs::rename(moved, log, error);
  return reopened.WithContext("reopening the log of container " + id);
}

}  // namespace cox::kubelet
