/** A manifest, and what `kubectl get pod -o yaml` prints of the pod that a server made of it. */
export interface ExportedCase {
  readonly manifest: string;
  readonly exported: string;
}

const SERVER_STATUS = `
status:
  conditions:
  - {lastProbeTime: null, lastTransitionTime: "2026-11-20T09:12:44Z", observedGeneration: 1, status: "True", type: Ready}
  containerStatuses:
  - {allocatedResources: {cpu: 100m}, containerID: containerd://0a1b, image: nginx:1.27, name: web, newInVersion139: x}
  hostIP: 192.0.2.10
  observedGeneration: 1
  phase: Running
  podIPs: [{ip: 10.244.1.7}]
  qosClass: Burstable
  startTime: "2026-11-20T09:12:40Z"
`;

const API_ACCESS = `
  - name: kube-api-access-x7k2p
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken: {expirationSeconds: 3607, path: token}
      - configMap: {items: [{key: ca.crt, path: ca.crt}], name: kube-root-ca.crt}
      - downwardAPI: {items: [{fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}, path: namespace}]}`;

/** A pod of a Deployment, with an init container and volumes of its own. */
export const DEPLOYMENT_POD: ExportedCase = {
  manifest: `
apiVersion: v1
kind: Pod
metadata:
  name: web-6d4cf56db6-x7k2p
  namespace: shop
  labels: {app: web, pod-template-hash: 6d4cf56db6}
  annotations: {team: checkout}
spec:
  initContainers:
  - {name: setup, image: busybox, command: [sh, -c, "true"]}
  containers:
  - name: web
    image: nginx:1.27
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 100m}}
    volumeMounts: [{name: cache, mountPath: /cache}]
  priorityClassName: system-node-critical
  priority: 2000001000
  tolerations: [{key: dedicated, operator: Exists}]
  volumes: [{name: cache, emptyDir: {}}]
`,
  exported: `
apiVersion: v1
kind: Pod
metadata:
  annotations:
    cni.projectcalico.org/podIP: 10.244.1.7/32
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1"}
    team: checkout
  creationTimestamp: "2026-11-20T09:12:40Z"
  generateName: web-6d4cf56db6-
  generation: 1
  labels: {app: web, pod-template-hash: 6d4cf56db6}
  managedFields:
  - {apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {".": {}}}}, manager: kubelet, operation: Update, time: "2026-11-20T09:12:44Z"}
  name: web-6d4cf56db6-x7k2p
  namespace: shop
  ownerReferences:
  - {apiVersion: apps/v1, blockOwnerDeletion: true, controller: true, kind: ReplicaSet, name: web-6d4cf56db6, uid: 5a1c}
  resourceVersion: "48213"
  uid: 1c6b3d1e-93a5-4f5c-9a55-6f3a3c1ffb10
spec:
  containers:
  - image: nginx:1.27
    imagePullPolicy: IfNotPresent
    name: web
    ports: [{containerPort: 80, protocol: TCP}]
    resources: {requests: {cpu: 100m}}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - {mountPath: /cache, name: cache}
    - {mountPath: /var/run/secrets/kubernetes.io/serviceaccount, name: kube-api-access-x7k2p, readOnly: true}
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  initContainers:
  - command: [sh, -c, "true"]
    image: busybox
    imagePullPolicy: Always
    name: setup
    resources: {}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
    volumeMounts:
    - {mountPath: /var/run/secrets/kubernetes.io/serviceaccount, name: kube-api-access-x7k2p, readOnly: true}
  nodeName: worker-1
  preemptionPolicy: PreemptLowerPriority
  priority: 2000001000
  priorityClassName: system-node-critical
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  serviceAccount: default
  serviceAccountName: default
  terminationGracePeriodSeconds: 30
  tolerations:
  - {key: dedicated, operator: Exists}
  - {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 300}
  - {effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 300}
  volumes:
  - {emptyDir: {}, name: cache}${API_ACCESS}${SERVER_STATUS}`,
};

/** A pod of a DaemonSet, which its controller has bound to a node. */
export const DAEMON_SET_POD: ExportedCase = {
  manifest: `
apiVersion: v1
kind: Pod
metadata: {name: agent-vm2s8, labels: {app: agent}}
spec:
  hostNetwork: true
  containers: [{name: agent, image: "agent:3"}]
`,
  exported: `
apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: "2026-11-20T09:12:40Z"
  generateName: agent-
  labels: {app: agent}
  name: agent-vm2s8
  namespace: default
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: 9f}]
  resourceVersion: "5"
  uid: 0d
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchFields: [{key: metadata.name, operator: In, values: [worker-1]}]
  containers: [{image: "agent:3", name: agent}]
  hostNetwork: true
  nodeName: worker-1
  priority: 0
  tolerations:
  - {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists}
  - {effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists}
  - {effect: NoSchedule, key: node.kubernetes.io/disk-pressure, operator: Exists}
  - {effect: NoSchedule, key: node.kubernetes.io/network-unavailable, operator: Exists}
`,
};

/** The mirror pod of a static pod: its kubelet added the node's name, annotations and the owner. */
export const MIRROR_POD: ExportedCase = {
  manifest:
    'apiVersion: v1\nkind: Pod\nmetadata: {name: proxy}\nspec: {containers: [{name: p, image: "p:1"}]}\n',
  exported: `
apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubernetes.io/config.hash: d41d8cd98f00b204e9800998ecf8427e
    kubernetes.io/config.mirror: d41d8cd98f00b204e9800998ecf8427e
    kubernetes.io/config.seen: "2026-11-20T09:12:40Z"
    kubernetes.io/config.source: file
  creationTimestamp: "2026-11-20T09:12:40Z"
  name: proxy-worker-1
  namespace: default
  ownerReferences: [{apiVersion: v1, controller: true, kind: Node, name: worker-1, uid: 9f}]
  resourceVersion: "6"
  uid: 0e
spec:
  containers: [{image: "p:1", name: p}]
  nodeName: Worker-1
`,
};
