// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace cox::kubelet::testing {

// A temporary directory that is removed after the test.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = ::testing::TempDir() + "kubelet-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name) << text;
  }
  void Link(const std::string& to, const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::filesystem::create_symlink(to, path_ + "/" + name);
  }
  std::string Read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool Has(const std::string& name) const {
    return std::filesystem::symlink_status(path_ + "/" + name).type() !=
           std::filesystem::file_type::not_found;
  }
  unsigned Mode(const std::string& name) const {
    struct stat s {};
    ::stat((path_ + "/" + name).c_str(), &s);
    return s.st_mode & 07777;
  }

 private:
  std::string path_;
};

inline bool IsRoot() { return ::geteuid() == 0; }

}  // namespace cox::kubelet::testing
