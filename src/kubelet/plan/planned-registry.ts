import {findContainer, isRestartableInitContainer} from '../../api/pod-containers.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {findByName} from '../../base/by-name.js';
import type {RunHook} from '../contract/lifecycle-hook.js';
import type {PlannedFile} from '../contract/pod-filesystem.js';
import {runExecHook, type HookContext} from '../managers/lifecycle/hook-runner.js';
import {redactSecretObjects} from '../managers/redaction/redact-secret-objects.js';
import {withPlannedClaims, type PlannedResize} from '../managers/volumes/provisioning/planned-claims.js';
import {
  ActuatedResourcesStore,
  createPlannedActuatedResources,
} from '../pods/allocation/actuated-resources-store.js';
import {NO_HISTORY, PodHistories} from '../pods/history/pod-history.js';
import {PodRegistry} from '../pods/registry/pod-registry.js';
import {
  SILENT_OBSERVER,
  type PodHistoryStore,
  type PodRegistryOptions,
} from '../pods/registry/pod-registry-options.js';
import {CallRecorder} from './planned-call.js';
import {PlannedFilesystem} from './planned-filesystem.js';
import {PlannedPullRecords} from './planned-pull-records.js';
import {createPlannedServices} from './planned-services.js';

/** Options of planPods. */
export type PlanOptions = Omit<PodRegistryOptions, 'observer' | 'files' | 'histories' | 'probes'> & {
  /** True to plan for an empty node, without reading any records. */
  readonly offline?: boolean;
  /**
   * When the pods are taken over from another kubelet, whose back-offs go on, in ms since the epoch; undefined if back-offs do
   * not matter.
   */
  readonly takenOverAt?: number | undefined;
};

/** Effects that a sync of a pod would have, as they are found. */
export interface PlannedEffects {
  readonly recorder: CallRecorder;
  /** Files by path; there may be several passes. */
  readonly files: Map<string, PlannedFile>;
  /** Sizes by the names of the volumes. */
  readonly resizes: Map<string, PlannedResize>;
}

/** Returns the effects of a pod before its sync is planned: none. */
export function createEffects({node, objects}: PlanOptions, pod: Pod): PlannedEffects {
  const recorder = new CallRecorder(pod, {node, objects: redactSecretObjects(objects)});
  return {recorder, files: new Map(), resizes: new Map()};
}

/** Creates a PodRegistry that performs every operation without effect. */
export function createPlannedRegistry(
  options: PlanOptions,
  pod: Pod,
  {recorder, files, resizes}: PlannedEffects,
): PodRegistry {
  const exitsImmediately = (name: string): boolean => {
    const container = findByName(pod.spec.initContainers ?? [], name);
    return container !== undefined && !isRestartableInitContainer(container);
  };
  const {clock, node, offline = false} = options;
  const planned = new PodRegistry({
    ...options,
    objects: withPlannedClaims(options.objects, {node, clock, offline, resizes}),
    ...(!offline && {histories: readOnlyHistories(new PodHistories(node.rootDir, clock))}),
    envObjects: redactSecretObjects(options.objects),
    services: createPlannedServices(options.services, {exitsAtOnce: exitsImmediately}),
    // A plan does not run credential provider plugins.
    imageCredentials: options.imageCredentials?.withoutProviders(),
    pullRecords: new PlannedPullRecords(node.rootDir, offline),
    actuated: createPlannedActuatedResources(new ActuatedResourcesStore(node.rootDir), offline),
    hooks: plannedHooks,
    files: (facts) =>
      new PlannedFilesystem(facts, {clock, offline, onFile: (file) => void files.set(file.path, file)}),
    observer: {
      ...SILENT_OBSERVER,
      call: (_ref, ...call) => {
        recorder.onCall(...call);
      },
    },
  });
  recorder.explain = (name) => {
    const container = findContainer(pod, name);
    return container === undefined ? [] : planned.nodeManagers.explain(pod, container);
  };
  return planned;
}

/** Creates hooks that always succeed. A command becomes a call of the plan; other handlers are skipped. */
function plannedHooks({runtime}: Pick<HookContext, 'runtime'>): RunHook {
  return async (hook, signal) =>
    hook.handler.exec === undefined
      ? undefined
      : await runExecHook({runtime}, hook, hook.handler.exec, signal);
}

/** Returns histories that read the last known state of the pods, as a sync does, but record nothing. */
export function readOnlyHistories(histories: PodHistories): PodHistoryStore {
  return {
    of: (uid) => ({...NO_HISTORY, lastKnown: async () => await histories.lastKnown(uid)}),
    lastKnown: async (uid) => await histories.lastKnown(uid),
    delete: async () => undefined,
  };
}
