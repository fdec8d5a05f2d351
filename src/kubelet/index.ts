/** The kubelet's only door: what commands may use of it. */
export {describeAbandonedNode, describeNode, openLocalPods, type DescribedNode} from './open-local-pods.js';
export type {LocalPods} from './local-pods.js';
export {SILENT_OBSERVER, type PodObserver} from './local-pods-options.js';
export {recordsNamed, recordsOfManifest} from './find-records.js';
export {planPods, type PodPlan} from './plan/plan-pods.js';
export type {PlannedCall} from './plan/planned-call.js';
export type {FieldChange} from './plan/diff.js';
export {describeOfflineNode} from './plan/offline-node.js';
export {syncPodUntil, type PodOutcome, type SyncPodsOptions} from './foreground/sync-pods.js';
export type {WaitFor} from './foreground/judge.js';
export {preparePods, type PreparedPod} from './prepare-pods.js';
export type {NodeOptions} from './node-status/read-node-facts.js';
export type {CriCall} from './container/cri-calls.js';
export type {PodEvent} from './container/events.js';
export {apiObjects, type ApiObjects} from './container/api-objects.js';
export type {NodeCredentials} from './images/credentials/node-credentials.js';
export {openNodeCredentials} from './images/credentials/open-node-credentials.js';
export {FilePullRecords} from './images/records/pull-records.js';
export {secretTexts} from './references/secret-texts.js';
export {podRef, type PodRef} from './container/pod-ref.js';
export {KeptByKubeletError, OtherRuntimeError, PodError, SupersededError} from './pod-error.js';
export {PodStore, type PodRecord} from './pod/pod-store.js';
export {PodHistories, type LastKnown} from './events/pod-history.js';
export type {RecordedEvent} from './events/recorded-event.js';
export {recallPods, seePods, type SeenPod} from './status/seen-pods.js';
export {Kubelet, type KubeletOptions} from './kubelet.js';
export type {ContainerGcPolicy} from './kuberuntime/garbage.js';
export {openPodSources} from './pod-sources.js';
export {findKubelet, publishKubelet, type RunningKubelet} from './kubelet-file.js';
export type {KubeletPodReport, KubeletReport, ProbeReport} from './kubelet-report.js';
export {askKubelet, serveReports, type ReportService} from './kubelet-socket.js';
export {
  asKubeletConfiguration,
  milliseconds,
  readKubeletConfig,
  type ConfigFileText,
  type KubeletConfig,
} from './kubelet-config/kubelet-config.js';
export type {ConfigValues} from './kubelet-config/fields.js';
export {LiveConfig} from './kubelet-config/live-config.js';
export type {VerificationPolicy} from './images/records/verification-policy.js';
export {startServers} from './server/start-servers.js';
export type {ServerOptions} from './server/options.js';
export {KubeletRegistry} from './metrics/kubelet-registry.js';
export {RuntimeOperations} from './metrics/runtime-operations.js';
