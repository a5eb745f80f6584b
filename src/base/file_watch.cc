// SPDX-License-Identifier: Apache-2.0
#include "base/file_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace cox {
namespace {

namespace fs = std::filesystem;

// The kernel's limit.
constexpr int kMaxLinks = 40;
// A file that is being written is read when it is closed. IN_CREATE is for links, which are never
// closed; IN_ATTRIB for a file that becomes readable; the last two are for the folder itself.
constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                             IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;

Status CannotRead(const fs::path& path, int error) {
  return Status::NotFound("cannot read " + path.string() + ": " + std::strerror(error));
}

// A name in a folder that determines which file a path refers to.
struct PathComponent {
  fs::path folder;
  std::string name;
  friend bool operator==(const PathComponent&, const PathComponent&) = default;
};

// The names that determine which file is at `path`: each symbolic link on the path and the file, or
// the first missing name.
std::vector<PathComponent> ResolvePath(const fs::path& path) {
  std::vector<PathComponent> found;
  std::error_code error;
  fs::path folder = "/";
  fs::path rest = fs::absolute(path, error).lexically_normal().relative_path();
  for (int links = 0; !rest.empty() && links <= kMaxLinks;) {
    const fs::path name = *rest.begin();
    fs::path after;
    for (auto it = std::next(rest.begin()); it != rest.end(); ++it) after /= *it;
    const fs::path target = fs::read_symlink(folder / name, error);
    if (!error) {
      ++links;
      found.push_back({folder, name.string()});
      // Not normalized as a whole: ".." after a link refers to the parent of the link's target.
      if (target.is_absolute()) folder = "/";
      rest = target.relative_path() / after;
      continue;
    }
    const bool absent = error == std::errc::no_such_file_or_directory;
    if (after.empty() || absent) found.push_back({folder, name.string()});
    if (absent) break;
    folder = name == ".." ? folder.parent_path() : name == "." ? folder : folder / name;
    rest = after;
  }
  return found;
}

// A new regular file is still empty: it is read when it is closed. Links are complete at once.
bool IsBeingWritten(const fs::path& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1;
}

}  // namespace

Result<std::string> ReadBoundedFile(const fs::path& path, size_t limit) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return CannotRead(path, errno);
  std::string text;
  char buffer[16 * 1024];
  int error = 0;
  for (;;) {
    const ssize_t size = read(fd.get(), buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) error = errno;
    if (size <= 0) break;
    text.append(buffer, static_cast<size_t>(size));
    if (text.size() > limit) error = EFBIG;
    if (error != 0) break;
  }
  explicit_bzero(buffer, sizeof(buffer));  // it may contain a key
  if (error != 0) return CannotRead(path, error);
  return text;
}

FileWatch::FileWatch(Private, const Context& ctx, Options options, OnChange on_change)
    : options_(std::move(options)),
      on_change_(std::move(on_change)),
      inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      scope_(ctx, options_.name) {}

FileWatch::~FileWatch() {
  scope_.Stop();
  scope_.Wait();
}

Result<std::unique_ptr<FileWatch>> FileWatch::Start(
    const Context& ctx, Options options,
    const std::function<Status(std::span<const std::string>)>& first, OnChange on_change) {
  auto watch =
      std::make_unique<FileWatch>(Private{}, ctx, std::move(options), std::move(on_change));
  if (!watch->wake_.valid()) return Status::Unavailable("no file descriptor left");
  // Watched before it is read, so that no change is missed in between.
  watch->WatchFolders(ctx);
  const Result<std::vector<std::string>> texts = watch->ReadAll();
  if (!texts.ok()) return texts.status();
  (void)watch->HasChanged(texts);
  COX_RETURN_IF_ERROR(first(*texts));
  COX_RETURN_IF_ERROR(watch->scope_.Go("watch-" + watch->options_.name,
                                       [raw = watch.get()](Context& inner) { raw->Run(inner); }));
  return watch;
}

void FileWatch::Wake() const {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));  // a full counter means that it is already awake
}

void FileWatch::Run(Context& ctx) {
  const StopHandle stop = ctx.OnStop([this] { Wake(); });
  while (!ctx.Done()) {
    bool look = false;
    {
      const Timer again = ctx.clock().After(options_.read_again, [this] { Wake(); });
      pollfd fds[] = {{wake_.get(), POLLIN, 0}, {inotify_.get(), POLLIN, 0}};
      // The timer wakes it instead of a timeout, so that it uses the injected clock.
      poll(fds, inotify_.get() < 0 ? 1 : 2, -1);
      uint64_t count = 0;
      look = read(wake_.get(), &count, sizeof(count)) > 0;
    }
    look = TakeEvents() || look;
    if (ctx.Done() || !look) continue;
    // Symbolic links may have changed.
    WatchFolders(ctx);
    const Result<std::vector<std::string>> texts = ReadAll();
    if (HasChanged(texts)) on_change_(texts);
  }
}

void FileWatch::WatchFolders(const Context& ctx) {
  if (inotify_.get() < 0) return;
  std::map<int, Folder> old;
  old.swap(folders_);
  for (const fs::path& path : options_.paths) {
    // Repeats until nothing changes: a link may change before its folder is watched.
    std::vector<PathComponent> watched;
    for (int changes = 0; changes < kMaxLinks; ++changes) {
      std::vector<PathComponent> now = ResolvePath(path);
      if (now == watched) break;
      for (const PathComponent& deciding : now) WatchFolder(deciding.folder, deciding.name);
      watched = std::move(now);
    }
  }
  for (const auto& [descriptor, folder] : old) {
    if (!folders_.contains(descriptor)) inotify_rm_watch(inotify_.get(), descriptor);
  }
  if (folders_.empty() && !warned_) {
    warned_ = true;
    COX_WARNING(ctx.log(), "Could not watch the folder of a file, polling it instead",
                {"file", options_.paths.front().string()});
  }
}

void FileWatch::WatchFolder(const fs::path& folder, const std::string& name) {
  // The same folder returns the same descriptor.
  const int descriptor = inotify_add_watch(inotify_.get(), folder.c_str(), kEvents | IN_ONLYDIR);
  if (descriptor < 0) return;
  folders_[descriptor].path = folder;
  folders_[descriptor].names.insert(name);
}

bool FileWatch::TakeEvents() {
  if (inotify_.get() < 0) return false;
  bool ours = false;
  alignas(inotify_event) char buffer[4096];
  for (;;) {
    const ssize_t size = read(inotify_.get(), buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return ours;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      // An event without a name concerns the folder itself, or an overflow of the event queue.
      if (event->len == 0) {
        ours = ours || (event->mask & IN_IGNORED) == 0;
        continue;
      }
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end() || !folder->second.names.contains(event->name)) continue;
      if ((event->mask & IN_CREATE) != 0 && IsBeingWritten(folder->second.path / event->name)) {
        continue;
      }
      ours = true;
    }
  }
}

Result<std::vector<std::string>> FileWatch::ReadAll() const {
  std::vector<std::string> texts;
  for (const fs::path& path : options_.paths) {
    COX_ASSIGN_OR_RETURN(std::string text, ReadBoundedFile(path));
    texts.push_back(std::move(text));
  }
  return texts;
}

bool FileWatch::HasChanged(const Result<std::vector<std::string>>& texts) {
  // Stores a hash, so that no second copy of the contents, such as a key, is kept.
  const std::hash<std::string_view> hash;
  size_t now = texts.ok() ? 1 : hash(texts.status().message());
  if (texts.ok()) {
    for (const std::string& text : *texts) now = now * 1'000'003 + hash(text);
  }
  const bool news = now != seen_;
  seen_ = now;
  return news;
}

}  // namespace cox
