/** The public interface of the kubelet: the only module of it that commands import. */
export type {CpuShare} from './managers/cpu/list-cpu-shares.js';
export {
  readCpuOwners,
  readCpuShares,
  readExclusiveCpus,
  readNodeCpus,
  type ExclusiveCpus,
  type NodeCpus,
  type OwnedCpu,
} from './pods/node-managers/read-exclusive-cpus.js';
export {readAbandonedNode, readNode, type NodeAndRuntime} from './pods/registry/read-node.js';
export {openPodRegistry} from './pods/registry/open-pod-registry.js';
export type {PodRegistry} from './pods/registry/pod-registry.js';
export {SILENT_OBSERVER, type PodObserver} from './pods/registry/pod-registry-options.js';
export {findRecordsByName, findRecordsOfManifest} from './pods/registry/resolve-pod-name.js';
export {planDeletions, planPods, type PodPlan} from './plan/plan-pods.js';
export {planClusterPods} from './plan/plan-cluster-pods.js';
export {startPlannedNodeManagers} from './plan/planned-node-managers.js';
export {planTakeover, type PlannedTakeover} from './plan/takeover/plan-takeover.js';
export type {PlannedEviction, PlannedSoftEviction} from './plan/takeover/plan-eviction.js';
export type {NodeMeasurement} from './daemon/create-node-pressure.js';
export {readNodePods, type NodePods} from './plan/takeover/read-node-pods.js';
export {
  readPodSources,
  type ReadPodSourcesOptions,
  type ReadSources,
} from './plan/takeover/read-pod-sources.js';
export type {PodTakeover, TakeoverVerdict} from './plan/takeover/takeover-verdict.js';
export {findLiveKubelet} from './node/find-live-kubelet.js';
export {openKubeconfig} from './cluster/open-kubeconfig.js';
export {withClusterObjects} from './contract/api-objects.js';
export type {NodeManagers} from './contract/node-manager.js';
export type {PlannedCall} from './plan/planned-call.js';
export {targetOf, type PlannedChange} from './plan/planned-changes.js';
export {explainCallFields, explainConfig} from './managers/kuberuntime/provenance/call-rules.js';
export {leavesOf, type ExplainedField} from './managers/kuberuntime/provenance/rule-tree.js';
export {joinPath, type PathSegment} from './managers/kuberuntime/provenance/provenance.js';
export type {FieldChange} from './sources/field-changes.js';
export {lacksSpec} from './pods/registry/reconstruct-record.js';
export {explainRunningPod, type ExplainedConfig} from './plan/explain-running.js';
export {describeOfflineNode} from './plan/offline-node.js';
export {syncPods, type OrderedRequests, type SyncPodsOptions} from './foreground/sync-pods.js';
export type {FailedSync, ForegroundSyncResult, SyncRequest} from './foreground/foreground-sync-result.js';
export type {JobRequest} from './foreground/sync-job.js';
export {HostsUpdater} from './pods/registry/hosts-updater.js';
export type {WaitFor} from './foreground/evaluate-wait.js';
export {LocalServices, withLocalServices} from './managers/network/local-services.js';
export {measureStorage} from './managers/volumes/measure-storage.js';
export {claimsOf, removeClaims} from './managers/volumes/remove-claims.js';
export {forgetReleasedVolume} from './managers/volumes/provisioning/forget-released-volume.js';
export {
  ProvisionedVolumeStore,
  type ProvisionedVolume,
} from './managers/volumes/provisioning/provisioned-volume-store.js';
export type {ReclaimedVolume} from './managers/volumes/provisioning/volume-provisioner.js';
export {withVolumeAffinity} from './pods/node-fit/volume-node-affinity.js';
export {FIELD_RULES, type FieldRule} from './pods/field-support/field-rules.js';
export {preparePods, type PreparedPod} from './pods/field-support/prepare-pods.js';
export {createHostLookup} from './node/lookup-host.js';
export {NodeAddresses, type NodeAddressFacts} from './node/node-addresses.js';
export {KUBELET_CONTAINER_LOGS_DIR, resolveNodeName, type NodeOptions} from './node/read-node-facts.js';
export {parseMemory, parsePressure, readNodeUsage, type NodeUsage} from './server/stats/node-usage.js';
export type {CriCall} from './contract/observation/observe-cri-calls.js';
export type {KubeletTracer} from './contract/observation/kubelet-tracer.js';
export type {PodEvent} from './contract/pod-event.js';
export {createApiObjects, currentObjects, type ApiObjects} from './contract/api-objects.js';
export type {NodeCredentials} from './managers/images/credentials/node-credentials.js';
export {openNodeCredentials} from './managers/images/credentials/open-node-credentials.js';
export {FilePullRecordsAccessor} from './managers/images/pull-manager/pull-records-accessor.js';
export {podLimits, podRequests} from './resources/resource-amounts.js';
export {secretValuesOf} from './managers/redaction/pod-redactor.js';
export {namespacedName, podRef, type PodRef} from './contract/pod-ref.js';
export {ManagedByKubeletError, OtherRuntimeError, PodError, SupersededError} from './pods/pod-errors.js';
export {PodStore, type PodRecord} from './pods/registry/pod-store.js';
export {RejectedPodStore, type RejectedPod} from './pods/registry/rejected-pod-store.js';
export {PodHistories, type LastKnown} from './pods/history/pod-history.js';
export type {RecordedEvent} from './pods/history/recorded-event.js';
export {lastKnownPods, observePods, type ObservedPod} from './pods/registry/observe-pods.js';
export {RuntimePodReader} from './pods/runtime-pods/runtime-pod-reader.js';
export type {RuntimePod} from './pods/runtime-pods/group-runtime-pods.js';
export {checkNodeConfig} from './daemon/check-node-config.js';
export {Kubelet} from './daemon/kubelet.js';
export type {KubeletOptions} from './daemon/kubelet-options.js';
export {createManagerSettings} from './configuration/manager-settings.js';
export {curveNames} from './configuration/tls-curves.js';
export {createNodePolicies} from './configuration/node-policies.js';
export {withReservations} from './daemon/reserve-node-resources.js';
export type {ContainerGcPolicy} from './pods/gc/container-gc.js';
export {checkManifests} from './daemon/check-manifests.js';
export {formatManifestProblem} from './daemon/introspection/manifest-problem.js';
export {parseEvictionSettings} from './resources/eviction-thresholds.js';
export {readPodUsages} from './server/stats/eviction/read-pod-usages.js';
export {SignalReader} from './server/stats/eviction/read-signals.js';
export {openPodSources} from './daemon/open-pod-sources.js';
export {recordPodEvent} from './pods/registry/record-pod-event.js';
export {isPodRun} from './pods/registry/pod-runs.js';
export {JobStore} from './managers/workloads/job-store.js';
export {findKubelet, publishKubelet, type RunningKubelet} from './pods/registry/running-kubelet.js';
export type {
  KubeletPodReport,
  KubeletReport,
  ProbeReport,
  ReportRequest,
} from './daemon/introspection/kubelet-report.js';
export {PodTimelines, type PodLife, type TimelineStep} from './pods/history/pod-timelines.js';
export {
  createNodeReport,
  withReportedFacts,
  withReportedManagers,
} from './daemon/introspection/node-report.js';
export type {NodeSettings} from './contract/cluster/node-settings.js';
export {queryKubelet, serveReports, type ReportService} from './daemon/introspection/report-socket.js';
export {
  toKubeletConfiguration,
  durationToMs,
  periodToMs,
  readKubeletConfig,
  type ConfigFileText,
  type ReadConfigOptions,
  type KubeletConfig,
} from './configuration/kubelet-config.js';
export type {FileVerbosity} from './configuration/config-field-types.js';
export type {ConfigValues} from './configuration/fields-and-defaults/kubelet-config-defaults.js';
export {KUBERNETES_VERSION} from './contract/kubelet-version.js';
export {liveValue, type LiveValue} from './contract/live-value.js';
export type {ImageGcPolicy} from './managers/images/gc/image-gc-policy.js';
export type {LogRotationOptions} from './managers/logs/log-rotator.js';
export {LiveConfig} from './configuration/live-config.js';
export type {VerificationPolicy} from './managers/images/pull-manager/verification-policy.js';
export {startServers} from './server/start-servers.js';
export type {ServerAccess, ServerOptions} from './server/http-server-options.js';
export {KubeletMetricsRegistry} from './managers/metrics/kubelet-metrics-registry.js';
export {ConnectionMetrics} from './managers/metrics/connection-metrics.js';
export type {ObserveCertificate} from './contract/cluster/certificate-observer.js';
export {configMapNames, secretNames} from './sources/api-object-reference.js';
export {fetchManifest} from './sources/fetch-manifest.js';
export {computeVolumes} from './managers/volumes/inventory/compute-volumes.js';
export {
  measureVolumes,
  type MeasuredUsage,
  type NodeVolumeUsage,
} from './managers/volumes/inventory/measure-volumes.js';
export type {NodeVolume, VolumeEvent, VolumePod} from './managers/volumes/inventory/node-volume.js';
export {readVolumeFacts} from './managers/volumes/inventory/read-volume-facts.js';
export type {VolumeFacts} from './managers/volumes/inventory/volume-facts.js';
export {systemMounter} from './managers/volumes/mounter.js';
export {volumeFailures} from './managers/volumes/inventory/volume-failures.js';
export type {VolumeHistory} from './contract/volumes/volume-history.js';
