// SPDX-License-Identifier: Apache-2.0
#include "runtime/testing/containerd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/program.h"
#include "runtime/cri/cri_runtime.h"

namespace cox::runtime {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kCniPlugins = "/usr/lib/cni";

// Creates the images "busybox" and "pause" (which sleeps) in an OCI layout, and pushes both.
constexpr const char* kImageScript = R"sh(
set -e
cd "$1"
mkdir -p rootfs/bin rootfs/tmp rootfs/etc
cp "$(command -v busybox)" rootfs/bin/busybox
for name in sh sleep cat echo ls true nc httpd wget; do ln -s busybox rootfs/bin/$name; done
umoci init --layout layout
umoci new --image layout:busybox
umoci insert --image layout:busybox rootfs /
umoci config --image layout:busybox --config.env PATH=/bin
umoci config --image layout:busybox --tag pause --config.entrypoint /bin/sleep \
  --config.entrypoint 1000000
umoci config --image layout:busybox --config.cmd /bin/sh
for name in busybox pause; do
  skopeo --insecure-policy copy -q --dest-tls-verify=false oci:layout:$name docker://$2/$name:1
done
)sh";

bool OnPath(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "";
  folders += ":/usr/sbin:/sbin";
  for (size_t at = 0; at < folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    if (::access((folders.substr(at, end - at) + "/" + name).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

// Starts a server that is killed when this program ends.
pid_t Spawn(const std::vector<std::string>& arguments, const std::string& log) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(out, 1);
  ::dup2(out, 2);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

void End(pid_t* pid, int signal) {
  if (*pid <= 0) return;
  ::kill(*pid, signal);
  ::waitpid(*pid, nullptr, 0);
  *pid = -1;
}

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ::bind(fd, generic, size);
  ::getsockname(fd, generic, &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

Status RunTool(const Context& ctx, std::vector<std::string> arguments) {
  const std::string name = arguments[0];
  COX_ASSIGN_OR_RETURN(const ProgramResult result,
                       RunProgram(ctx, {.arguments = std::move(arguments), .environment = {}}));
  if (result.exit_code == 0) return {};
  return Status::Internal(name + " failed: " + result.output);
}

// Retries until success, because servers need time to start.
template <class Try>
Status Until(const Context& ctx, Try attempt) {
  const Context limited = ctx.WithTimeout(seconds(60));
  while (true) {
    const Status status = attempt();
    if (status.ok()) return {};
    if (!limited.Sleep(milliseconds(50)).ok()) return status;
  }
}

// Unmounts all mounts below `dir`, the deepest first.
void Unmount(const Context& ctx, const std::string& dir) {
  std::vector<std::string> points;
  std::ifstream mounts("/proc/self/mounts");
  std::string device, point, rest;
  while (mounts >> device >> point && std::getline(mounts, rest)) {
    if (point.starts_with(dir + "/")) points.push_back(point);
  }
  for (auto at = points.rbegin(); at != points.rend(); ++at) {
    (void)RunTool(ctx, {"umount", "-l", *at});
  }
}

// Removes the cgroup `name` and its descendants, in each hierarchy (one, or one per controller).
void RemoveGroups(const std::string& name) {
  std::error_code error;
  std::vector<fs::path> groups = {"/sys/fs/cgroup" + name};
  for (const auto& hierarchy : fs::directory_iterator("/sys/fs/cgroup", error)) {
    groups.push_back(hierarchy.path().string() + name);
  }
  for (const fs::path& group : groups) {
    std::vector<fs::path> folders = {group};
    for (const auto& each : fs::recursive_directory_iterator(group, error)) {
      if (each.is_directory(error)) folders.push_back(each.path());
    }
    for (auto at = folders.rbegin(); at != folders.rend(); ++at) ::rmdir(at->c_str());
  }
}

}  // namespace

std::string Containerd::Missing() {
  if (::geteuid() != 0) return "this needs root";
  for (const char* name : {"containerd", "runc", "docker-registry", "skopeo", "umoci", "busybox"}) {
    if (!OnPath(name)) return std::string(name) + " is not installed";
  }
  if (!fs::exists(std::string(kCniPlugins) + "/bridge")) return "the CNI plugins are not installed";
  return {};
}

Containerd::Containerd(const Context& ctx, std::string dir, int port)
    : ctx_(ctx),
      dir_(std::move(dir)),
      port_(port),
      registry_("127.0.0.1:" + std::to_string(port)),
      bridge_("coxt" + std::to_string(port)) {}

Result<std::unique_ptr<Containerd>> Containerd::Start(const Context& ctx) {
  // Not in the test's own folder, because the path of a socket must be short.
  const char* place = std::getenv("TMPDIR");
  std::string dir = std::string(place != nullptr ? place : "/tmp") + "/cox-containerd-XXXXXX";
  if (::mkdtemp(dir.data()) == nullptr) return Status::Internal("cannot make a folder " + dir);
  auto made = std::make_unique<Containerd>(ctx, dir, FreePort());
  COX_RETURN_IF_ERROR(made->WriteConfig());
  made->registry_pid_ = Spawn({"docker-registry", "serve", made->dir_ + "/registry.yml"},
                              made->dir_ + "/registry.log");
  COX_RETURN_IF_ERROR(made->MakeImages(ctx));
  COX_RETURN_IF_ERROR(made->Boot(ctx));
  return made;
}

Status Containerd::WriteConfig() {
  std::ofstream(dir_ + "/registry.yml")
      << "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: " << dir_
      << "/registry\nhttp:\n  addr: " << registry_ << "\n";
  fs::create_directory(dir_ + "/cni");
  fs::create_directory(dir_ + "/logs");
  const std::string subnet =
      "10." + std::to_string(port_ / 250 % 250) + "." + std::to_string(port_ % 250) + ".0/24";
  std::ofstream(dir_ + "/cni/10-test.conflist")
      << R"({"cniVersion": "1.0.0", "name": "test", "plugins": [{"type": "bridge", "bridge": ")"
      << bridge_ << R"(", "isGateway": true, "ipam": {"type": "host-local", "dataDir": ")" << dir_
      << R"(/cni-data", "ranges": [[{"subnet": ")" << subnet
      << R"("}]], "routes": [{"dst": "0.0.0.0/0"}]}}]})";
  // Without restrict_oom_score_adj, sandboxes cannot start if the test must not lower its own OOM
  // score.
  std::ofstream config(dir_ + "/config.toml");
  config << "version = 3\nroot = \"" << dir_ << "/root\"\nstate = \"" << dir_ << "/state\"\n"
         << "disabled_plugins = [\"io.containerd.internal.v1.opt\", \"io.containerd.nri.v1.nri\"]\n"
         << "[grpc]\n  address = \"" << dir_ << "/c.sock\"\n"
         << "[ttrpc]\n  address = \"" << dir_ << "/c.sock.ttrpc\"\n"
         << "[plugins.\"io.containerd.cri.v1.images\".pinned_images]\n  sandbox = \"" << registry_
         << "/pause:1\"\n"
         << "[plugins.\"io.containerd.cri.v1.runtime\"]\n  restrict_oom_score_adj = true\n"
         << "[plugins.\"io.containerd.cri.v1.runtime\".cni]\n  bin_dirs = [\"" << kCniPlugins
         << "\"]\n  conf_dir = \"" << dir_ << "/cni\"\n";
  config.flush();
  return config ? Status() : Status::Internal("cannot write " + dir_ + "/config.toml");
}

Status Containerd::MakeImages(const Context& ctx) {
  // The registry needs time to start; creating images is repeatable.
  return Until(ctx, [&]() {
    fs::remove_all(dir_ + "/layout");
    fs::remove_all(dir_ + "/rootfs");
    return RunTool(ctx, {"sh", "-c", kImageScript, "sh", dir_, registry_});
  });
}

Status Containerd::Boot(const Context& ctx) {
  pid_ = Spawn({"containerd", "-c", dir_ + "/config.toml"}, dir_ + "/containerd.log");
  COX_ASSIGN_OR_RETURN(const auto runtime, ConnectCri(ctx, endpoint()));
  return Until(ctx, [&]() {
    const auto status = runtime->GetStatus(ctx);
    if (!status.ok()) return status.status();
    return status->network.ready ? Status() : Status::Unavailable(status->network.message);
  });
}

std::string Containerd::cgroup() const {
  const char* given = std::getenv("COX_TEST_CGROUP");  // set by alone.sh, which removes the cgroup
  return given != nullptr ? given : "/" + bridge_;
}

void Containerd::Kill() { End(&pid_, SIGKILL); }

Status Containerd::Empty(const Context& ctx) {
  COX_ASSIGN_OR_RETURN(const auto runtime, ConnectCri(ctx, endpoint()));
  COX_ASSIGN_OR_RETURN(const auto pods, runtime->ListPods(ctx));
  for (const PodState& pod : pods) {
    for (const SandboxState& sandbox : pod.sandboxes) {
      COX_RETURN_IF_ERROR(runtime->StopSandbox(ctx, sandbox.id));
      COX_RETURN_IF_ERROR(runtime->RemoveSandbox(ctx, sandbox.id));
    }
  }
  return {};
}

Containerd::~Containerd() {
  const Context ctx = ctx_.WithTimeout(seconds(60));
  if (pid_ < 0 && fs::exists(dir_ + "/root")) (void)Boot(ctx);
  if (pid_ > 0) (void)Empty(ctx);
  End(&pid_, SIGTERM);
  End(&registry_pid_, SIGKILL);
  Unmount(ctx, dir_);
  if (::if_nametoindex(bridge_.c_str()) != 0) {
    (void)RunTool(ctx, {"ip", "link", "delete", bridge_});
  }
  RemoveGroups(cgroup());
  std::error_code ignored;
  fs::remove_all(dir_, ignored);
}

}  // namespace cox::runtime
