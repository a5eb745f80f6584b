// SPDX-License-Identifier: Apache-2.0
#include "api/objects.h"

#include <cstdio>

namespace cox::bench {
namespace {

std::string ContainerJson(const std::string& name) {
  return R"({"name":")" + name + R"(","image":"registry.example.com/team/)" + name +
         R"(:v1.2.3",)"
         R"("args":["--listen=0.0.0.0:8080","--log-level=info"],)"
         R"("ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],)"
         R"("env":[{"name":"NAMESPACE","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}},)"
         R"({"name":"SERVICE_NAME","value":"checkout"},{"name":"REGION","value":"eu-central-1"}],)"
         R"("resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"250m","memory":"128Mi"}},)"
         R"("livenessProbe":{"httpGet":{"path":"/healthz","port":8080},"periodSeconds":10},)"
         R"("readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":5},)"
         R"("volumeMounts":[{"name":"config","mountPath":"/etc/checkout"},{"name":"cache","mountPath":"/var/cache"}]})";
}

}  // namespace

std::string NumberedName(const std::string& prefix, int64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%08lld", static_cast<long long>(number));
  return prefix + "-" + digits;
}

std::string ConfigMapJson(const std::string& name, size_t bytes, int64_t version) {
  std::string data;
  for (size_t i = 0; data.size() < bytes; ++i) data += static_cast<char>('a' + i % 26);
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"("},"data":{"version":"seq-)" + std::to_string(version) + R"(","payload":")" + data +
         R"("}})";
}

std::string PodJson(const std::string& name, const std::string& group) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","labels":{"app":"checkout","pod-template-hash":"7d9f8b6c5d","team":"payments","group":")" +
         group +
         R"("},"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"8080"},)"
         R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"checkout-7d9f8b6c5d",)"
         R"("uid":"6a1f3c44-61f5-4a4c-8e0e-3a3f0e1d2c3b","controller":true,"blockOwnerDeletion":true}]},)"
         R"("spec":{"containers":[)" +
         ContainerJson("server") +
         R"(],"volumes":[{"name":"config","configMap":{"name":"checkout"}},{"name":"cache","emptyDir":{}}],)"
         R"("nodeSelector":{"disk":"ssd"},"serviceAccountName":"default","terminationGracePeriodSeconds":30}})";
}

}  // namespace cox::bench
