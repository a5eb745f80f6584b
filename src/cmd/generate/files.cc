// SPDX-License-Identifier: Apache-2.0
#include "cmd/generate/files.h"

#include <fstream>

#include "base/file_watch.h"

namespace cox::cmd {

Status WriteFiles(const std::filesystem::path& folder,
                  const std::vector<std::pair<std::string, std::string>>& files, bool replace) {
  std::vector<const std::pair<std::string, std::string>*> wanted;
  for (const auto& file : files) {
    const std::filesystem::path path = folder / file.first;
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      const Result<std::string> there = ReadBoundedFile(path);
      if (there.ok() && *there == file.second) continue;
      if (!replace) {
        return Status::AlreadyExists(path.string() + " exists already, and says something else");
      }
    }
    wanted.push_back(&file);
  }
  for (const auto* file : wanted) {
    const std::filesystem::path path = folder / file->first;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    std::ofstream out(path, std::ios::binary);
    out << file->second;
    out.close();
    if (!out) return Status::Unavailable("cannot write " + path.string());
  }
  return {};
}

}  // namespace cox::cmd
