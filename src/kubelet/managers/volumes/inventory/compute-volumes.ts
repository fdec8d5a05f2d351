import type {Pod} from '../../../../api/types/v1-pod.js';
import {hasEnded} from '../../../../api/types/v1-status.js';
import type {Volume} from '../../../../api/types/v1-volumes.js';
import {groupBy} from '../../../../base/by-name.js';
import {usedVolumes} from '../../../../api/used-volumes.js';
import {claimsDir} from '../../../contract/node-facts.js';
import {matchVolumes, type MatchedVolume} from './match-volumes.js';
import type {NodeVolume, VolumePod, VolumeState} from './node-volume.js';
import type {PodVolumeFact, StagedVolumeFact, VolumeFacts} from './volume-facts.js';
import {volumeFailures} from './volume-failures.js';
import {claimOf, isClaim, isDirectoryKind, kindOfPlugin, kindOfVolume} from './volume-kinds.js';

/** What the volumes of a node follow from. */
export interface VolumeInputs {
  /** Facts of each root directory. */
  readonly facts: readonly VolumeFacts[];
  readonly pods: readonly VolumePod[];
  /** Reports whether all pods of a root directory are known, so that another one with a directory does not exist. */
  readonly knowsAllPods: (facts: VolumeFacts) => boolean;
}

/** Returns the volumes of pods in the order of the pods, then those of unknown pods, and those that no pod has. Pure. */
export function computeVolumes(inputs: VolumeInputs): readonly NodeVolume[] {
  const {facts, pods, knowsAllPods} = inputs;
  const known = new Set(pods.map(({uid}) => uid));
  const roots = facts.map((root) => ({
    root,
    uids: new Set(root.uids),
    found: groupBy(root.pods, ({uid}) => uid),
  }));
  const ofPods = pods.flatMap((pod) => {
    const own = roots.find(({uids}) => uids.has(pod.uid));
    return volumesOfPod(pod, own?.found.get(pod.uid) ?? [], own?.root);
  });
  const ofUnknown = facts.flatMap((root) =>
    root.pods
      .filter(({uid}) => !known.has(uid))
      .map((fact) => unknownPodVolume(fact, root, knowsAllPods(root))),
  );
  const volumes = [...ofPods, ...ofUnknown];
  return [...volumes, ...facts.flatMap((root) => volumesWithoutPod(root, volumes))];
}

function volumesOfPod(
  pod: VolumePod,
  found: readonly PodVolumeFact[],
  root: VolumeFacts | undefined,
): readonly NodeVolume[] {
  const provisioned = new Map(root?.provisioned.map(({claim, name}) => [claim, name]));
  return matchVolumes(pod, found, provisioned).flatMap((matched) => {
    const {fact, volume} = matched;
    if (fact !== undefined) return foundVolume(pod, {...matched, fact}, root);
    return volume === undefined ? [] : specVolume(pod, volume, root);
  });
}

/** Returns a volume that has a directory or a device. */
function foundVolume(
  pod: VolumePod,
  {fact, volume}: MatchedVolume & {readonly fact: PodVolumeFact},
  root: VolumeFacts | undefined,
): NodeVolume {
  const staged = root?.staged.find((each) => isStagedFor(each, fact));
  const name = volume?.name ?? fact.name;
  const state = stateOf(fact, staged);
  const failure = causeOf(pod, new Set([name, fact.name]));
  const message = fact.damage ?? (state === 'pending' || state === 'staged' ? failure : undefined);
  return {
    pod: {uid: pod.uid, namespace: pod.namespace, name: pod.name},
    name,
    ...volumeFields(fact, staged, root),
    ...(volume !== undefined && isClaim(kindOfVolume(volume)) && claimFields(pod, volume, fact)),
    state: message === undefined ? state : 'error',
    message,
  };
}

/** Returns a volume of the spec without a directory; none for a pod that has ended, since its volumes are unmounted. */
function specVolume(known: VolumePod, volume: Volume, root: VolumeFacts | undefined): readonly NodeVolume[] {
  const {uid, namespace, name, pod} = known;
  if (pod === undefined || hasEnded(pod.status?.phase)) return [];
  const kind = kindOfVolume(volume);
  const claim = isClaim(kind) ? claimOf(known, volume) : undefined;
  const common = {pod: {uid, namespace, name}, name: volume.name, driver: volume.csi?.driver, claim};
  const isUsed = usedVolumes(pod).some((used) => used.name === volume.name);
  const state = isUsed ? specState(known, volume, root) : ({state: 'unused'} as const);
  if (root !== undefined && claim !== undefined && root.claims.includes(claim))
    return [{...common, kind: 'claim', isBlock: false, path: `${claimsDir(root)}/${claim}`, ...state}];
  return [{...common, kind, isBlock: false, path: volume.hostPath?.path, ...state}];
}

/** Returns the state of a used volume without a directory of its own. */
function specState(
  known: VolumePod,
  volume: Volume,
  root: VolumeFacts | undefined,
): Pick<NodeVolume, 'state' | 'message'> {
  const isStarted = known.pod !== undefined && hasStarted(known.pod);
  if (isStarted && root !== undefined && hasDirectory(kindOfVolume(volume)))
    return {state: 'error', message: 'its directory does not exist'};
  if (isStarted) return {state: 'mounted'};
  const message = causeOf(known, new Set([volume.name]));
  return message === undefined ? {state: 'pending'} : {state: 'error', message};
}

/** Reports whether a volume of this kind in the spec of a pod has a directory of the pod. */
function hasDirectory(kind: string): boolean {
  return isDirectoryKind(kind) || kind === 'nfs' || kind === 'csi';
}

function unknownPodVolume(fact: PodVolumeFact, root: VolumeFacts, isOrphaned: boolean): NodeVolume {
  const staged = root.staged.find((each) => isStagedFor(each, fact));
  const state = fact.damage === undefined ? stateOf(fact, staged) : 'error';
  return {
    pod: {uid: fact.uid},
    name: fact.name,
    ...volumeFields(fact, staged, root),
    state: isOrphaned ? 'orphaned' : state,
    message: fact.damage,
  };
}

type FactFields = Pick<
  NodeVolume,
  'kind' | 'driver' | 'handle' | 'persistentVolume' | 'claim' | 'path' | 'stagingPath' | 'isBlock' | 'mount'
>;

function volumeFields(
  {plugin, name, path, isBlock, mount, data}: PodVolumeFact,
  staged: StagedVolumeFact | undefined,
  root: VolumeFacts | undefined,
): FactFields {
  const provisioned = root?.provisioned.find((each) => each.name === name);
  const kind = kindOfPlugin(plugin);
  const isPersistent =
    provisioned !== undefined || isBlock || kind === 'local' || data?.volumeLifecycleMode === 'Persistent';
  return {
    ...{kind, path, isBlock, mount},
    ...(data !== undefined && {driver: data.driverName, handle: data.volumeHandle}),
    ...(isPersistent && {persistentVolume: name}),
    ...(provisioned !== undefined && {claim: provisioned.claim}),
    ...(staged !== undefined && {stagingPath: staged.path}),
  };
}

function claimFields(
  pod: VolumePod,
  volume: Volume,
  {name}: PodVolumeFact,
): Pick<NodeVolume, 'claim' | 'persistentVolume'> {
  return {claim: claimOf(pod, volume), persistentVolume: name};
}

function stateOf({plugin, isBlock, mount, isComplete}: PodVolumeFact, staged: unknown): VolumeState {
  const kind = kindOfPlugin(plugin);
  const isReady = isComplete && (isDirectoryKind(kind) || kind === 'csi' || mount !== undefined);
  if (isReady) return kind === 'csi' ? 'published' : 'mounted';
  return staged === undefined || isBlock ? 'pending' : 'staged';
}

function isStagedFor(staged: StagedVolumeFact, fact: PodVolumeFact): boolean {
  if (staged.plugin !== fact.plugin) return false;
  if (staged.name !== undefined) return staged.name === fact.name;
  if (fact.isBlock || fact.data === undefined)
    return staged.mount !== undefined && isSameDevice(staged, fact);
  const {driverName, volumeHandle, volumeLifecycleMode} = fact.data;
  return (
    volumeLifecycleMode !== 'Ephemeral' &&
    staged.data?.driverName === driverName &&
    staged.data.volumeHandle === volumeHandle
  );
}

/** Reports whether a volume of a pod is a bind mount of one for all pods. */
function isSameDevice({mount}: StagedVolumeFact, fact: PodVolumeFact): boolean {
  return fact.mount !== undefined && mount?.device === fact.mount.device;
}

/** Returns why a volume is not mounted; undefined if that is not known. */
function causeOf({events, histories}: VolumePod, names: ReadonlySet<string>): string | undefined {
  const history = histories.find(({name, volume}) => names.has(name) || names.has(volume));
  if (history !== undefined && history.failures > 0) return history.lastError;
  if (history?.mountedAt !== undefined) return undefined;
  return volumeFailures(events, names)
    .toSorted((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp))
    .at(-1)
    ?.message.trim();
}

/** Reports whether a container of the pod has started, which needs all volumes. */
function hasStarted({status = {}}: Pod): boolean {
  const {initContainerStatuses = [], containerStatuses = []} = status;
  return [...initContainerStatuses, ...containerStatuses].some(
    ({state = {}, lastState = {}}) =>
      state.running !== undefined || state.terminated !== undefined || lastState.terminated !== undefined,
  );
}

/** Returns staged volumes and volumes of claims that none of the volumes is. */
function volumesWithoutPod(root: VolumeFacts, volumes: readonly NodeVolume[]): readonly NodeVolume[] {
  const stagingPaths = new Set(volumes.map(({stagingPath}) => stagingPath));
  const claims = new Set(volumes.map(({claim}) => claim));
  const common = {pod: undefined, isBlock: false};
  const staged = root.staged
    .filter(({path}) => !stagingPaths.has(path))
    .map((each): NodeVolume => {
      const {path, plugin, mount, data, damage} = each;
      const made = root.provisioned.find(
        ({driver, handle}) =>
          handle !== undefined && handle === data?.volumeHandle && driver === data.driverName,
      );
      const name = each.name ?? made?.name;
      return {
        ...{...common, kind: kindOfPlugin(plugin), name: name ?? data?.volumeHandle ?? path, mount},
        ...{driver: data?.driverName, handle: data?.volumeHandle, persistentVolume: name, claim: made?.claim},
        ...{state: damage === undefined ? 'staged' : 'error', message: damage, stagingPath: path},
        isBlock: plugin === 'kubernetes.io/csi' && each.name !== undefined,
      };
    });
  const taken = new Set([...volumes, ...staged].map(({persistentVolume}) => persistentVolume));
  const made = root.provisioned
    .filter(({name}) => !taken.has(name))
    .map(({name, claim, driver, handle}): NodeVolume => ({
      ...{...common, kind: 'csi', name, driver, handle, persistentVolume: name, claim, state: 'unused'},
    }));
  const directories = root.claims
    .filter((claim) => !claims.has(claim))
    .map((claim): NodeVolume => ({
      ...{...common, kind: 'claim', name: claim.slice(claim.indexOf('/') + 1), claim, state: 'unused'},
      path: `${claimsDir(root)}/${claim}`,
    }));
  return [...staged, ...made, ...directories];
}
