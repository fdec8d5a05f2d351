/** The kubelet's only door: what commands may use of it. */
export {describeAbandonedNode, describeNode, openLocalPods, type DescribedNode} from './open-local-pods.js';
export {SILENT_OBSERVER, type LocalPods, type PodObserver} from './local-pods.js';
export {recordsNamed, recordsOfManifest} from './find-records.js';
export {planPods, type PlannedCall, type PodPlan} from './plan/plan-pods.js';
export {syncPodUntil, type PodOutcome, type SyncPodsOptions} from './foreground/sync-pods.js';
export type {WaitFor} from './foreground/judge.js';
export {preparePods, type PreparedPod} from './prepare-pods.js';
export type {NodeOptions} from './node-status/read-node-facts.js';
export type {CriCall} from './container/cri-calls.js';
export type {PodEvent} from './container/events.js';
export {apiObjects, type ApiObjects} from './container/api-objects.js';
export {podRef, type PodRef} from './container/pod-ref.js';
export {OtherRuntimeError, PodError, SupersededError} from './pod-error.js';
export {PodStore, type PodRecord} from './pod/pod-store.js';
export {PodHistories, type LastKnown} from './events/pod-history.js';
export type {RecordedEvent} from './events/recorded-event.js';
export {recallPods, seePods, type SeenPod} from './status/seen-pods.js';
