// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "apiserver/registry/kinds/core/pod/update/update_validation.h"
#include "apiserver/testing/test_pods.h"

namespace cox::apiserver {
namespace {

using ::testing::ElementsAreArray;

// A part of a pod and the expected errors.
struct Case {
  std::string_view json;
  std::vector<std::string> errors = {};
};

void CheckSpecs(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_THAT(Texts(ValidatePodCreate(PodWith(c.json))), ElementsAreArray(c.errors)) << c.json;
  }
}
void CheckContainers(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_THAT(Texts(ValidatePodCreate(PodWithContainer(c.json))), ElementsAreArray(c.errors))
        << c.json;
  }
}
void CheckVolumes(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    std::string spec = R"("volumes":[{"name":"v",)" + std::string(c.json) + "}]";
    EXPECT_THAT(Texts(ValidatePodCreate(PodWith(spec))), ElementsAreArray(c.errors)) << c.json;
  }
}

TEST(PodCreateValidation, NamesAndImagesOfContainers) {
  CheckSpecs({
      {R"("containers":[])", {"spec.containers: Required value"}},
      {R"("containers":[{"image":"x"}])", {"spec.containers[0].name: Required value"}},
      {R"("containers":[{"name":"a.b","image":"x"}])",
       {"spec.containers[0].name: Invalid value: \"a.b\": must not contain dots"}},
      {R"("containers":[{"name":"c"}])", {"spec.containers[0].image: Required value"}},
      {R"("containers":[{"name":"c","image":" x"}])",
       {"spec.containers[0].image: Invalid value: \" x\": must not have leading or trailing "
        "whitespace"}},
      {R"("containers":[{"name":"c","image":"x"},{"name":"c","image":"x"}])",
       {"spec.containers[1].name: Duplicate value: \"c\""}},
      {R"("initContainers":[{"name":"c","image":"x"}])",
       {"spec.initContainers[0].name: Duplicate value: \"c\""}},
      {R"("ephemeralContainers":[{"name":"e","image":"x"}])",
       {"spec.ephemeralContainers: Forbidden: cannot be set on create"}},
  });
}

TEST(PodCreateValidation, Ports) {
  CheckContainers({
      {R"("ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}])"},
      {R"("ports":[{}])", {"spec.containers[0].ports[0].containerPort: Required value"}},
      {R"("ports":[{"containerPort":65536}])",
       {"spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and "
        "65535, inclusive"}},
      {R"("ports":[{"containerPort":80,"protocol":"ICMP"}])",
       {"spec.containers[0].ports[0].protocol: Unsupported value: \"ICMP\": supported values: "
        "\"SCTP\", \"TCP\", \"UDP\""}},
      {R"("ports":[{"containerPort":1,"name":"a"},{"containerPort":2,"name":"a"}])",
       {"spec.containers[0].ports[1].name: Duplicate value: \"a\""}},
      {R"("ports":[{"containerPort":1,"hostPort":8},{"containerPort":2,"hostPort":8}])",
       {"spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//8\""}},
  });
  CheckSpecs({{R"("containers":[{"name":"c","image":"x","ports":[{"containerPort":80,
                 "hostPort":81}]}],"hostNetwork":true)",
               {"spec.containers[0].ports[0].hostPort: Invalid value: 81: must match "
                "`containerPort` when `hostNetwork` is true"}}});
}

TEST(PodCreateValidation, Environment) {
  const std::string from = "spec.containers[0].env[0].valueFrom";
  CheckContainers({
      {R"x("env":[{"name":"A","value":"$(B)"},{"name":"1.b c"}])x"},
      {R"("env":[{"name":"a=b"}])",
       {"spec.containers[0].env[0].name: Invalid value: \"a=b\": a valid environment variable name "
        "must consist only of printable ASCII characters other than '='"}},
      {R"("env":[{"name":"A","value":"x","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])",
       {from + ": Invalid value: \"\": may not be specified when `value` is not empty"}},
      {R"("env":[{"name":"A","valueFrom":{}}])",
       {from + ": Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, "
               "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"}},
      {R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.nope"}}}])",
       {from + ".fieldRef.fieldPath: Invalid value: \"metadata.nope\": error converting fieldPath: "
               "field label not supported: metadata.nope"}},
      {R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a b']"}}}])",
       {from + ".fieldRef: Invalid value: \"a b\": name part must consist of alphanumeric "
               "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
               "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
               "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {R"("env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu",
           "divisor":"3"}}}])",
       {from + ".resourceFieldRef.divisor: Invalid value: \"limits.cpu\": only divisor's values 1m "
               "and 1 are supported with the cpu resource"}},
      {R"("envFrom":[{}])",
       {"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or "
        "`secretRef`"}},
      {R"("env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"f","key":"K"}}}])",
       {from + ".fileKeyRef.volumeName: Not found: \"v\""}},
  });
}

TEST(PodCreateValidation, Resources) {
  const std::string at = "spec.containers[0].resources";
  CheckContainers({
      {R"("resources":{"limits":{"cpu":"1","memory":"1Gi","example.com/gpu":"2"}})"},
      {R"("resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}})",
       {at + ".requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"}},
      {R"("resources":{"requests":{"example.com/gpu":"1"}})",
       {at + ".limits: Required value: Limit must be set for non overcommitable resources"}},
      {R"("resources":{"limits":{"hugepages-2Mi":"2Mi"}})",
       {at + ": Forbidden: HugePages require cpu or memory"}},
      {R"("resources":{"claims":[{"name":"x"}]})",
       {at + ".claims[0]: Not found: \"x\": must be one of the names in pod.spec.resourceClaims "
             "which is empty"}},
      {R"("resizePolicy":[{"resourceName":"cpu","restartPolicy":"X"}])",
       {"spec.containers[0].resizePolicy: Unsupported value: \"X\": supported values: "
        "\"NotRequired\", \"RestartContainer\""}},
  });
  CheckSpecs({
      {R"("resources":{"limits":{"cpu":"2"}})"},
      {R"("resources":{"limits":{"nope":"1"}})",
       {"spec.resources.limits[nope]: Invalid value: \"nope\": must be a standard resource type or "
        "fully qualified"}},
      {R"("resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c","image":"x","resources":{
           "requests":{"cpu":"2"}}}])",
       {"spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to "
        "aggregate container requests of 2"}},
  });
}

TEST(PodCreateValidation, MountsAndDevices) {
  const std::string at = "spec.containers[0].volume";
  const std::vector<Case> cases = {
      {R"("volumeMounts":[{"name":"v","mountPath":"/a","subPath":"x"}])"},
      {R"("volumeMounts":[{"name":"w","mountPath":"/a"}])",
       {at + "Mounts[0].name: Not found: \"w\""}},
      {R"("volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/a"}])",
       {at + "Mounts[1].mountPath: Invalid value: \"/a\": must be unique"}},
      {R"("volumeMounts":[{"name":"v","mountPath":"/a","subPath":"../x"}])",
       {at + "Mounts.subPath: Invalid value: \"../x\": must not contain '..'"}},
      {R"("volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}])",
       {at + "Mounts.mountPropagation: Forbidden: Bidirectional mount propagation is available "
             "only to privileged containers"}},
      {R"("volumeMounts":[{"name":"v","mountPath":"/a","recursiveReadOnly":"Enabled"}])",
       {at + "Mounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"}},
      {R"("volumeDevices":[{"name":"v","devicePath":"/d"}])",
       {at + "Devices[0].name: Invalid value: \"v\": can only use volume source type of "
             "PersistentVolumeClaim or Ephemeral for block mode"}},
  };
  for (const Case& c : cases) {
    core::v1::Pod pod = PodWithContainer(c.json, R"("volumes":[{"name":"v"}])");
    EXPECT_THAT(Texts(ValidatePodCreate(pod)), ElementsAreArray(c.errors)) << c.json;
  }
}

TEST(PodCreateValidation, ProbesAndHooks) {
  const std::string c = "spec.containers[0].";
  CheckContainers({
      {R"("livenessProbe":{"grpc":{"port":1}},"lifecycle":{"preStop":{"sleep":{"seconds":30}}})"},
      {R"("livenessProbe":{})", {c + "livenessProbe: Required value: must specify a handler type"}},
      {R"("livenessProbe":{"httpGet":{"port":80},"exec":{"command":["a"]}})",
       {c + "livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type"}},
      {R"("startupProbe":{"tcpSocket":{"port":80},"successThreshold":2})",
       {c + "startupProbe.successThreshold: Invalid value: 2: must be 1"}},
      {R"("readinessProbe":{"tcpSocket":{"port":80},"terminationGracePeriodSeconds":5})",
       {c + "readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for "
            "readinessProbes"}},
      {R"("lifecycle":{"preStop":{"sleep":{"seconds":31}}})",
       {c + "lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than "
            "terminationGracePeriodSeconds (30)"}},
  });
  CheckSpecs({
      {R"("initContainers":[{"name":"i","image":"x","restartPolicy":"Always",
           "readinessProbe":{"tcpSocket":{"port":80}}}])"},
      {R"("initContainers":[{"name":"i","image":"x","readinessProbe":{"tcpSocket":{"port":80}}}])",
       {"spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers "
        "without restartPolicy=Always"}},
  });
}

TEST(PodCreateValidation, RestartRules) {
  const std::string c = "spec.containers[0].";
  CheckContainers({
      {R"("restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{
           "operator":"In","values":[42]}}])"},
      {R"("restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}])",
       {c + "restartPolicy: Required value: must specify restartPolicy when restart rules are "
            "used"}},
      {R"("restartPolicy":"Never","restartPolicyRules":[{"action":"Stop","exitCodes":{
           "operator":"Not","values":[1]}}])",
       {c + "restartPolicyRules[0].action: Unsupported value: \"Stop\": supported values: "
            "\"Restart\"",
        c + "restartPolicyRules[0].exitCodes.operator: Unsupported value: \"Not\": supported "
            "values: \"In\", \"NotIn\""}},
  });
}

TEST(PodCreateValidation, SecurityContexts) {
  CheckSpecs({
      {R"("securityContext":{"runAsUser":-1})",
       {"spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, "
        "inclusive"}},
      {R"("securityContext":{"sysctls":[{"name":"net.x","value":"1"},{"name":"net.x","value":"2"}]})",
       {"spec.securityContext.sysctls[1].name: Duplicate value: \"net.x\""}},
      {R"("hostNetwork":true,"securityContext":{"sysctls":[{"name":"net/x","value":"1"}]})",
       {"spec.securityContext.sysctls[0].name: Invalid value: \"net/x\": may not be specified when "
        "'hostNetwork' is true"}},
      {R"("securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"/abs"}})",
       {"spec.securityContext.seccompProfile.localhostProfile: Invalid value: \"/abs\": must be a "
        "relative path"}},
      {R"("hostPID":true,"shareProcessNamespace":true)",
       {"spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace "
        "and HostPID cannot both be enabled"}},
      {R"("hostUsers":false,"hostNetwork":true)",
       {"spec.hostNetwork: Forbidden: when `hostUsers` is false"}},
      {R"("os":{"name":"windows"},"securityContext":{"runAsUser":1})",
       {"spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod"}},
      {R"("os":{"name":"linux"},"securityContext":{"windowsOptions":{"hostProcess":false}})",
       {"spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux "
        "pod"}},
      {R"("os":{"name":"plan9"})",
       {"spec.os: Unsupported value: \"plan9\": supported values: \"linux\", \"windows\""}},
  });
  CheckContainers({
      {R"("securityContext":{"privileged":true,"allowPrivilegeEscalation":false})",
       {"spec.containers[0].securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":"
        "true,\"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":null,\"RunAsGroup\":"
        "null,\"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":"
        "false,\"ProcMount\":null,\"SeccompProfile\":null,\"AppArmorProfile\":null}: cannot set "
        "`allowPrivilegeEscalation` to false and `privileged` to true"}},
      {R"("securityContext":{"procMount":"Unmasked"})",
       {"spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` "
        "must be false to use `Unmasked`"}},
      {R"("securityContext":{"windowsOptions":{"runAsUserName":"a\\b\\c"}})",
       {"spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: "
        "\"a\\\\b\\\\c\": runAsUserName cannot contain more than one backslash"}},
      {R"("securityContext":{"windowsOptions":{"runAsUserName":"NT AUTHORITY\\SYSTEM"}})"},
  });
}

TEST(PodCreateValidation, Scheduling) {
  const std::string tolerations = "spec.tolerations[0].";
  CheckSpecs({
      {R"("nodeSelector":{"a":"b c"})",
       {"spec.nodeSelector: Invalid value: \"b c\": a valid label must be an empty string or "
        "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}},
      {R"("tolerations":[{"operator":"X"}])",
       {tolerations + "operator: Invalid value: \"X\": operator must be Exists when `key` is "
                      "empty, which means \"match all values and all keys\"",
        tolerations + "operator: Unsupported value: \"X\": supported values: \"Equal\", "
                      "\"Exists\""}},
      {R"("tolerations":[{"key":"a","effect":"NoSchedule","operator":"Exists",
           "tolerationSeconds":5}])",
       {tolerations + "effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
                      "`tolerationSeconds` is set"}},
      {R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":
           "ScheduleAnyway","minDomains":2}])",
       {"spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains "
        "if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"}},
      {R"("topologySpreadConstraints":[
           {"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},
           {"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}])",
       {"spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
        "\"{z, DoNotSchedule}\""}},
      {R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}})",
       {"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms: Required value: must have at least one node selector term"}},
      {R"("affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":200,"podAffinityTerm":{"topologyKey":"z"}}]}})",
       {"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
        "Invalid value: 200: must be in the range 1-100"}},
      {R"("schedulingGates":[{"name":"a"},{"name":"a"}])",
       {"spec.schedulingGates[1]: Duplicate value: \"a\""}},
      {R"("schedulingGates":[{"name":"a"}],"nodeName":"n")",
       {"spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"}},
      {R"("resourceClaims":[{"name":"a"}])",
       {"spec.resourceClaims[0]: Invalid value: {\"Name\":\"a\",\"ResourceClaimName\":null,"
        "\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, "
        "`resourceClaimTemplateName`"}},
  });
}

TEST(PodCreateValidation, DnsAndNames) {
  CheckSpecs({
      {R"("dnsPolicy":"None")",
       {"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
      {R"("dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]})",
       {"spec.dnsConfig.nameservers: Invalid value: [\"1.1.1.1\",\"1.1.1.2\",\"1.1.1.3\","
        "\"1.1.1.4\"]: must not have more than 3 nameservers"}},
      {R"("dnsConfig":{"searches":[".","_a.b."],"options":[{"name":"ndots"}]})"},
      {R"("dnsConfig":{"options":[{"value":"1"}]})",
       {"spec.dnsConfig.options[0]: Required value: must not be empty"}},
      {R"("hostname":"a.b")", {"spec.hostname: Invalid value: \"a.b\": must not contain dots"}},
      {R"("hostAliases":[{"ip":"x","hostnames":["a"]}])",
       {"spec.hostAliases[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 "
        "or 2001:db8::ffff)"}},
      {R"("activeDeadlineSeconds":0)",
       {"spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
        "inclusive"}},
  });
}

TEST(PodCreateValidation, Volumes) {
  const std::string v = "spec.volumes[0].";
  CheckVolumes({
      {R"("emptyDir":{},"hostPath":{"path":"/x"})",
       {v + "hostPath: Forbidden: may not specify more than 1 volume type"}},
      {R"("hostPath":{"path":"/x","type":"X"})",
       {v + "hostPath.type: Unsupported value: \"X\": supported values: \"\", \"BlockDevice\", "
            "\"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\", "
            "\"Socket\""}},
      {R"("secret":{"items":[{"key":"k","path":"..x"}],"defaultMode":1000})",
       {v + "secret.secretName: Required value",
        v + "secret.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 (octal), "
            "both inclusive",
        v + "secret.items[0].path: Invalid value: \"..x\": must not start with '..'"}},
      {R"("nfs":{})",
       {v + "nfs.server: Required value", v + "nfs.path: Required value",
        v + "nfs.path: Invalid value: \"\": must be an absolute path"}},
      {R"("iscsi":{"targetPortal":"p","iqn":"iqn.2015-02.example.com:x","lun":0})"},
      {R"("iscsi":{"targetPortal":"p","iqn":"iqn.2015-2.example.com:x","lun":300})",
       {v + "iscsi.iqn: Invalid value: \"iqn.2015-2.example.com:x\": must be valid format",
        v + "iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive"}},
      {R"("downwardAPI":{"items":[{"path":"a"}]})",
       {v + "downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"}},
      {R"("projected":{"sources":[{"secret":{"name":"s","items":[{"key":"a","path":"x"}]}},
           {"configMap":{"name":"s","items":[{"key":"a","path":"x"}]}}]})",
       {v + "projected: Invalid value: \"s\": conflicting duplicate paths"}},
      {R"("projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":5}}]})",
       {v + "projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not "
            "specify a duration less than 10 minutes",
        v + "projected.sources[0].serviceAccountToken: Forbidden: must not be specified when "
            "serviceAccountName is not set"}},
      {R"("ephemeral":{"volumeClaimTemplate":{"spec":{}}})",
       {v + "ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access "
            "mode is required",
        v + "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value"}},
      {R"("gcePersistentDisk":{"partition":-1})",
       {v + "persistentDisk.pdName: Required value",
        v + "persistentDisk.partition: Invalid value: -1: must be between 1 and 255, inclusive"}},
      {R"("fc":{})",
       {v + "fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not "
            "both"}},
      {R"("flexVolume":{"driver":"d","options":{"kubernetes.io/x":"y"}})",
       {v + "flexVolume.options[kubernetes.io/x]: Invalid value: \"kubernetes.io/x\": "
            "kubernetes.io and k8s.io namespaces are reserved"}},
      {R"("image":{})", {v + "image.reference: Required value"}},
  });
}

TEST(PodCreateValidation, RejectsReferenceToClaimOfEphemeralVolume) {
  core::v1::Pod pod = PodWith(R"("volumes":[
      {"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],
        "resources":{"requests":{"storage":"1Gi"}}}}}},
      {"name":"v","persistentVolumeClaim":{"claimName":"p-e"}}])");
  EXPECT_THAT(Texts(ValidatePodCreate(pod)),
              ElementsAreArray({"spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "
                                "\"p-e\": must not reference a PVC that gets created for an "
                                "ephemeral volume"}));
}

TEST(PodCreateValidation, Annotations) {
  const std::vector<Case> cases = {
      {R"("container.apparmor.security.beta.kubernetes.io/c":"bad")",
       {"metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "
        "\"bad\": invalid AppArmor profile name: \"bad\""}},
      {R"("container.seccomp.security.alpha.kubernetes.io/c":"bad")",
       {"metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: Invalid value: "
        "\"bad\": must be a valid seccomp profile"}},
      {R"("kubernetes.io/config.mirror":"x")",
       {"metadata.annotations[kubernetes.io/config.mirror]: Invalid value: \"x\": must set "
        "spec.nodeName if mirror pod annotation is set"}},
      {R"("scheduler.alpha.kubernetes.io/tolerations":"x")",
       {"metadata.annotations: Invalid value: \"scheduler.alpha.kubernetes.io/tolerations\": "
        "invalid character 'x' looking for beginning of value"}},
      {R"("controller.kubernetes.io/pod-deletion-cost":"1.5")",
       {"metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"1.5\": "
        "must be a 32bit integer"}},
      {R"("controller.kubernetes.io/pod-deletion-cost":"-7")"},
  };
  for (const Case& c : cases) {
    core::v1::Pod pod = PodWith("", R"("annotations":{)" + std::string(c.json) + "}");
    EXPECT_THAT(Texts(ValidatePodCreate(pod)), ElementsAreArray(c.errors)) << c.json;
  }
}

}  // namespace
}  // namespace cox::apiserver
