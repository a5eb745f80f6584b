// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/standards.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "object/object.h"
#include "tests/paths/paths.h"

namespace cox::apiserver::pod_security {
namespace {

namespace fs = std::filesystem;
using core::v1::Pod;

constexpr LevelVersion kBaseline{Level::kBaseline, {}};
constexpr LevelVersion kRestricted{Level::kRestricted, {}};

// Parses JSON or YAML.
Pod PodOf(const std::string& text) {
  Object object(Pod::kKind);
  const Result<Value> value = yaml::Parse(text);
  EXPECT_TRUE(value.ok()) << text;
  if (value.ok()) {
    const Status read = object.FromValue(*value);
    EXPECT_TRUE(read.ok()) << read.message();
  }
  return *object.As<Pod>();
}

std::string Judge(const LevelVersion& standard, const Pod& pod) {
  return Details(Evaluate(standard, pod.metadata, pod.spec));
}

// A Pod that meets the restricted standard except for the security context `more` of its container.
Pod RestrictedPod(const std::string& more = "{}") {
  Pod pod = PodOf(R"({"spec":{"containers":[{"name":"c","securityContext":)" + more + "}]}}");
  core::v1::SecurityContext& security = *pod.spec.containers[0].securityContext;
  if (!security.allowPrivilegeEscalation) security.allowPrivilegeEscalation = false;
  if (!security.runAsNonRoot) security.runAsNonRoot = true;
  if (!security.capabilities) security.capabilities.ensure().drop = {"ALL"};
  if (!security.seccompProfile) security.seccompProfile.ensure().type = "RuntimeDefault";
  return pod;
}

TEST(StandardsTest, ReferencePodsAreEvaluatedCorrectly) {
  const fs::path folder = fs::path(test::SharedDirectory()) / "data" / "pod-security";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no " << folder << ": set COX_SHARED";
  size_t seen = 0;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".yaml") continue;
    // <level>/<version>/<pass or fail>/<name>.yaml
    const fs::path verdict = file.path().parent_path();
    const fs::path version = verdict.parent_path();
    const LevelVersion standard{ParseLevel(version.parent_path().filename().string()).value(),
                                ParseVersion(version.filename().string()).value()};
    std::ifstream in(file.path());
    const Pod pod = PodOf({std::istreambuf_iterator<char>(in), {}});
    const std::string found = Judge(standard, pod);
    EXPECT_EQ(found.empty(), verdict.filename() == "pass") << file.path() << ": " << found;
    // The result is the same for the latest version.
    EXPECT_EQ(Judge({standard.level, {}}, pod), found) << file.path();
    ++seen;
  }
  EXPECT_GT(seen, 100u);
}

TEST(StandardsTest, ViolationsHaveUpstreamsTexts) {
  const struct {
    std::string_view pod, want;  // for baseline
  } kCases[] = {
      {R"({"spec":{"hostNetwork":true,"hostPID":true,"hostIPC":true}})",
       "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"},
      {R"({"spec":{"containers":[{"name":"a","securityContext":{"privileged":true}},
                                 {"name":"b","securityContext":{"privileged":true}}]}})",
       "privileged (containers \"a\", \"b\" must not set securityContext.privileged=true)"},
      {R"({"spec":{"volumes":[{"name":"v","hostPath":{}},{"name":"w","hostPath":{}}]}})",
       "hostPath volumes (volumes \"v\", \"w\")"},
      {R"({"spec":{"containers":[{"name":"a","ports":[{"hostPort":80},{"hostPort":12}]},
                                 {"name":"b","ports":[{"hostPort":80}]}]}})",
       "hostPort (containers \"a\", \"b\" use hostPorts 12, 80)"},
      {R"({"spec":{"containers":[{"name":"a",
            "readinessProbe":{"tcpSocket":{"host":"::1"}},
            "lifecycle":{"preStop":{"httpGet":{"host":"127.0.0.1"}}}}]}})",
       "probe or lifecycle host (container \"a\" uses probe or lifecycle hosts \"127.0.0.1\", "
       "\"::1\")"},
      {R"({"spec":{"securityContext":{"seLinuxOptions":{"type":"x","user":"u"}},
          "containers":[{"name":"a","securityContext":{"seLinuxOptions":{"type":"y","role":"r"}}}]}})",
       "seLinuxOptions (pod and container \"a\" set forbidden securityContext.seLinuxOptions: "
       "types "
       "\"x\", \"y\"; user may not be set; role may not be set)"},
      {R"({"metadata":{"annotations":{
            "container.apparmor.security.beta.kubernetes.io/a":"unconfined"}},
          "spec":{"securityContext":{"appArmorProfile":{"type":"Unconfined"}}}})",
       "forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "
       "\"Unconfined\", \"container.apparmor.security.beta.kubernetes.io/a=\"unconfined\"\")"},
      {R"({"spec":{"securityContext":{"seccompProfile":{"type":"Unconfined"}},
          "containers":[{"name":"a","securityContext":{"seccompProfile":{"type":"Unconfined"}}}]}})",
       "seccompProfile (pod and container \"a\" must not set securityContext.seccompProfile.type "
       "to \"Unconfined\")"},
      {R"({"spec":{"securityContext":{"sysctls":[{"name":"b"},{"name":"net.ipv4.tcp_rmem"},
                                                 {"name":"a"}]}}})",
       "forbidden sysctls (b, a)"},
      {R"({"spec":{"securityContext":{"windowsOptions":{"hostProcess":true}},
          "containers":[{"name":"a","securityContext":{"windowsOptions":{"hostProcess":true}}}]}})",
       "hostProcess (pod and container \"a\" must not set securityContext.windowsOptions."
       "hostProcess=true)"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Judge(kBaseline, PodOf(std::string(c.pod))), c.want);
}

TEST(StandardsTest, RestrictedReportsMissingAndForbiddenValues) {
  EXPECT_EQ(Judge(kRestricted, RestrictedPod()), "");
  const struct {
    std::string_view security, want;
  } kCases[] = {
      {R"({"runAsNonRoot":false})",
       "runAsNonRoot != true (container \"c\" must not set securityContext.runAsNonRoot=false)"},
      {R"({"runAsUser":0})", "runAsUser=0 (container \"c\" must not set runAsUser=0)"},
      {R"({"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE","CHOWN"]}})",
       "unrestricted capabilities (container \"c\" must not include \"CHOWN\" in "
       "securityContext.capabilities.add)"},
      {R"({"capabilities":{"drop":["MKNOD"]}})",
       "unrestricted capabilities (container \"c\" must set "
       "securityContext.capabilities.drop=[\"ALL\"])"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Judge(kRestricted, RestrictedPod(std::string(c.security))), c.want);
  }
  Pod pod = RestrictedPod();
  pod.spec.securityContext.ensure().runAsNonRoot = false;
  EXPECT_EQ(Judge(kRestricted, pod),
            "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)");
  pod = RestrictedPod();
  pod.spec.volumes.resize(2);
  pod.spec.volumes[0].name = "v";
  pod.spec.volumes[0].volumeSource.nfs.ensure();
  pod.spec.volumes[1].name = "w";
  pod.spec.volumes[1].volumeSource.image.ensure();
  EXPECT_EQ(Judge(kRestricted, pod),
            "restricted volume types (volumes \"v\", \"w\" use restricted volume types \"image\", "
            "\"nfs\")");
}

// CVE-2023-2727 and similar: a rule that checks only spec.containers can be bypassed. Every
// violation must be found in every list of containers.
TEST(StandardsTest, InitAndEphemeralContainersAreChecked) {
  constexpr std::string_view kSecurity[] = {
      R"({"privileged":true})",
      R"({"capabilities":{"add":["SYS_ADMIN"]}})",
      R"({"procMount":"Unmasked"})",
      R"({"seLinuxOptions":{"type":"x"}})",
      R"({"appArmorProfile":{"type":"Unconfined"}})",
      R"({"seccompProfile":{"type":"Unconfined"}})",
      R"({"windowsOptions":{"hostProcess":true}})",
      R"({"runAsUser":0})",
      R"({"runAsNonRoot":false})",
      R"({"allowPrivilegeEscalation":true})",
      R"({"capabilities":{"add":["CHOWN"],"drop":["ALL"]}})",
  };
  for (std::string_view security : kSecurity) {
    const Pod ordinary = RestrictedPod(std::string(security));
    const std::string want = Judge(kRestricted, ordinary);
    EXPECT_NE(want, "") << security;
    Pod init = RestrictedPod();
    init.spec.initContainers = ordinary.spec.containers;
    EXPECT_EQ(Judge(kRestricted, init), want);
    Pod ephemeral = RestrictedPod();
    core::v1::EphemeralContainerCommon& added =
        ephemeral.spec.ephemeralContainers.emplace_back().ephemeralContainerCommon;
    added.name = "c";
    added.securityContext = ordinary.spec.containers[0].securityContext;
    EXPECT_EQ(Judge(kRestricted, ephemeral), want);
  }
  for (std::string_view list : {"initContainers", "ephemeralContainers"}) {
    const std::string spec = R"({"spec":{")" + std::string(list) + R"(":[{"name":"c",
        "ports":[{"hostPort":1}],"startupProbe":{"httpGet":{"host":"h"}}}]}})";
    EXPECT_EQ(Judge(kBaseline, PodOf(spec)),
              "hostPort (container \"c\" uses hostPort 1), probe or lifecycle host (container "
              "\"c\" uses probe or lifecycle host \"h\")");
  }
}

TEST(StandardsTest, ControlsDependOnTheVersion) {
  const Pod windows = PodOf(R"({"spec":{"os":{"name":"windows"},
      "securityContext":{"runAsNonRoot":true},"containers":[{"name":"c"}]}})");
  Pod in_user_namespace = RestrictedPod(R"({"runAsUser":0,"runAsNonRoot":false})");
  in_user_namespace.spec.hostUsers = false;
  const struct {
    const Pod pod;
    Level level;
    std::string_view fails, passes;  // releases
  } kCases[] = {
      {PodOf(R"({"spec":{"containers":[{"name":"c",
          "livenessProbe":{"httpGet":{"host":"h"}}}]}})"),
       Level::kBaseline, "v1.34", "v1.33"},
      {PodOf(R"({"spec":{"securityContext":{"sysctls":[
          {"name":"net.ipv4.ip_local_reserved_ports"}]}}})"),
       Level::kBaseline, "v1.26", "v1.27"},
      {PodOf(R"({"spec":{"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_fin_timeout"}]}}})"),
       Level::kBaseline, "v1.28", "v1.29"},
      {PodOf(R"({"spec":{"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_wmem"}]}}})"),
       Level::kBaseline, "v1.31", "v1.32"},
      {PodOf(R"({"spec":{"securityContext":{"seLinuxOptions":{"type":"container_engine_t"}}}})"),
       Level::kBaseline, "v1.30", "v1.31"},
      {PodOf(R"({"metadata":{"annotations":{
          "seccomp.security.alpha.kubernetes.io/pod":"unconfined"}}})"),
       Level::kBaseline, "v1.18", "v1.19"},
      {PodOf(R"({"spec":{"hostUsers":false,"containers":[{"name":"c",
          "securityContext":{"procMount":"Unmasked"}}]}})"),
       Level::kBaseline, "v1.34", "v1.35"},
      {in_user_namespace, Level::kRestricted, "v1.34", "v1.35"},
      {windows, Level::kRestricted, "v1.24", "v1.25"},
      {RestrictedPod(R"({"allowPrivilegeEscalation":true})"), Level::kRestricted, "v1.8", "v1.7"},
      {RestrictedPod(R"({"runAsUser":0})"), Level::kRestricted, "v1.23", "v1.22"},
      {RestrictedPod(R"({"capabilities":{"drop":["MKNOD"]}})"), Level::kRestricted, "v1.22",
       "v1.21"},
  };
  for (const auto& c : kCases) {
    EXPECT_NE(Judge({c.level, *ParseVersion(c.fails)}, c.pod), "") << c.fails;
    EXPECT_EQ(Judge({c.level, *ParseVersion(c.passes)}, c.pod), "") << c.passes;
  }
  // Future releases are treated like this one.
  EXPECT_EQ(Judge({Level::kBaseline, Version{999}}, kCases[0].pod),
            Judge(kBaseline, kCases[0].pod));
}

TEST(StandardsTest, PrivilegedAllowsEverything) {
  EXPECT_EQ(Judge({}, PodOf(R"({"spec":{"hostNetwork":true,"hostPID":true}})")), "");
}

}  // namespace
}  // namespace cox::apiserver::pod_security
