import {isMigrated} from '../../../../api/csi-migration/in-tree-volumes.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {hasEnded} from '../../../../api/types/v1-status.js';
import type {Volume} from '../../../../api/types/v1-volumes.js';
import {usedVolumes} from '../../../../api/used-volumes.js';
import {claimsDir} from '../../../contract/node-facts.js';
import {matchVolumes, type MatchedVolume} from './match-volumes.js';
import type {NodeVolume, VolumePod, VolumeState} from './node-volume.js';
import {indexRoot, type RootIndex} from './root-index.js';
import type {PodVolumeFact, StagedVolumeFact, VolumeFacts} from './volume-facts.js';
import {volumeFailures} from './volume-failures.js';
import {
  claimOf,
  flexDriverOfPlugin,
  isClaim,
  isDirectoryKind,
  kindOfPlugin,
  kindOfVolume,
  migratedVolume,
} from './volume-kinds.js';

/** What the volumes of a node follow from. */
export interface VolumeInputs {
  /** Facts of each root directory. */
  readonly facts: readonly VolumeFacts[];
  readonly pods: readonly VolumePod[];
  /** Reports whether all pods of a root directory are known, so that another one with a directory does not exist. */
  readonly knowsAllPods: (facts: VolumeFacts) => boolean;
}

/** Kinds that are mounted in the directory of a pod. */
const MOUNTED: ReadonlySet<string> = new Set(['csi', 'fc', 'flexVolume', 'iscsi', 'local', 'nfs']);

/** Returns the volumes of pods in the order of the pods, then those of unknown pods, and those that no pod has. Pure. */
export function computeVolumes(inputs: VolumeInputs): readonly NodeVolume[] {
  const {facts, pods, knowsAllPods} = inputs;
  const known = new Set(pods.map(({uid}) => uid));
  const roots = facts.map(indexRoot);
  const rootOf = ({uid}: VolumePod): RootIndex | undefined => roots.find(({hasPod}) => hasPod(uid));
  const ofPods = pods.flatMap((pod) => volumesOfPod(pod, rootOf(pod)));
  const ofUnknown = roots.flatMap((root) => {
    const isOrphaned = knowsAllPods(root.facts);
    return root.facts.pods
      .filter(({uid}) => !known.has(uid))
      .map((fact) => unknownPodVolume(fact, root, isOrphaned));
  });
  const volumes = [...ofPods, ...ofUnknown];
  return [...volumes, ...roots.flatMap((root) => volumesWithoutPod(root, volumes))];
}

function volumesOfPod(pod: VolumePod, root: RootIndex | undefined): readonly NodeVolume[] {
  const found = root?.volumesOf(pod.uid) ?? [];
  return matchVolumes(pod, found, root?.provisionedNames ?? new Map()).flatMap((matched) => {
    const {fact, volume} = matched;
    if (fact !== undefined) return foundVolume(pod, {...matched, fact}, root);
    return volume === undefined ? [] : specVolume(pod, volume, root);
  });
}

/** Returns a volume that has a directory or a device. */
function foundVolume(
  pod: VolumePod,
  {fact, volume}: MatchedVolume & {readonly fact: PodVolumeFact},
  root: RootIndex | undefined,
): NodeVolume {
  const staged = root?.stagedFor(fact);
  const name = volume?.name ?? fact.name;
  const state = stateOf(fact, staged);
  return {
    pod: {uid: pod.uid, namespace: pod.namespace, name: pod.name},
    name,
    ...volumeFields(fact, staged, root),
    ...(volume !== undefined && isClaim(kindOfVolume(volume)) && claimFields(pod, volume, fact)),
    ...(volume !== undefined && isMigrated(kindOfVolume(volume)) && {persistentVolume: undefined}),
    ...foundState(fact, state, causeOf(pod, new Set([name, fact.name]))),
  };
}

/** Returns the state of a volume with what it waits for, or why it is an error. */
function foundState(
  {damage, data}: PodVolumeFact,
  state: VolumeState,
  failure: string | undefined,
): Pick<NodeVolume, 'state' | 'message'> {
  const isWaiting = state === 'pending' || state === 'staged';
  const error = damage ?? (isWaiting ? failure : undefined);
  if (error !== undefined) return {state: 'error', message: error};
  return {state, message: isWaiting ? notYet('published', data?.driverName) : undefined};
}

/** Returns the message about a volume whose CSI driver has not done this for it, as while it hangs; undefined without a driver. */
function notYet(done: string, driver: string | undefined): string | undefined {
  return driver === undefined ? undefined : `not yet ${done} by the CSI driver "${driver}"`;
}

/** Returns a volume of the spec without a directory; none for a pod that has ended, since its volumes are unmounted. */
function specVolume(known: VolumePod, volume: Volume, root: RootIndex | undefined): readonly NodeVolume[] {
  const {uid, namespace, name, pod} = known;
  if (pod === undefined || isUnmounted(known, volume, root)) return [];
  const state = specState(known, volume, root);
  const common = {pod: {uid, namespace, name}, name: volume.name, isBlock: false};
  if (isClaim(kindOfVolume(volume))) return [{...common, ...claimState(known, volume, root, state)}];
  const {csi, flexVolume, hostPath} = volume;
  const driver = csi?.driver ?? flexVolume?.driver ?? migratedVolume(volume, known)?.driver;
  return [{...common, kind: kindOfVolume(volume), driver, path: hostPath?.path, ...state}];
}

/** Reports whether a volume without a directory was unmounted: its pod has ended, or is being deleted, one volume after the other. */
function isUnmounted(known: VolumePod, volume: Volume, root: RootIndex | undefined): boolean {
  if (hasEnded(known.pod?.status?.phase)) return true;
  return known.pod?.metadata.deletionTimestamp !== undefined && isMissing(known, volume, root);
}

/** Returns what is known about the volume of a claim without a directory of its pod, and what it waits for. */
function claimState(
  known: VolumePod,
  volume: Volume,
  root: RootIndex | undefined,
  state: Pick<NodeVolume, 'state' | 'message'>,
): ReturnType<typeof locateClaim> & Pick<NodeVolume, 'state' | 'message'> {
  const {waitsFor, ...located} = locateClaim(claimOf(known, volume), volume, root);
  return {...located, ...(state.state === 'pending' && {message: waitsFor}), ...state};
}

/** Returns what is known about a claim without a directory of its pod. */
function locateClaim(
  claim: string,
  volume: Volume,
  root: RootIndex | undefined,
): Pick<NodeVolume, 'kind' | 'claim' | 'path' | 'driver' | 'handle' | 'persistentVolume' | 'stagingPath'> & {
  readonly isBlock?: boolean;
  readonly waitsFor?: string | undefined;
} {
  if (root?.hasClaim(claim) === true)
    return {claim, kind: 'claim', path: `${claimsDir(root.facts)}/${claim}`};
  const made = root?.provisioned(root.provisionedNames.get(claim) ?? '');
  if (made === undefined) return {claim, kind: kindOfVolume(volume)};
  const {driver, handle, name: persistentVolume, isBlock = false} = made;
  const stagingPath = root?.stagedOf(made)?.path;
  const waitsFor = notYet(handle === undefined ? 'created' : 'staged', driver);
  return {claim, kind: 'csi', driver, handle, persistentVolume, stagingPath, isBlock, waitsFor};
}

/** Returns the state of a volume without a directory of its own. */
function specState(
  known: VolumePod,
  volume: Volume,
  root: RootIndex | undefined,
): Pick<NodeVolume, 'state' | 'message'> {
  if (known.pod === undefined || usedVolumes(known.pod).every(({name}) => name !== volume.name))
    return {state: 'unused'};
  if (isMissing(known, volume, root)) return {state: 'error', message: 'its directory does not exist'};
  if (hasStarted(known.pod)) return {state: 'mounted'};
  const message = causeOf(known, new Set([volume.name]));
  return message === undefined ? {state: 'pending'} : {state: 'error', message};
}

/** Reports whether a volume without a directory must have had one, since its pod has started. */
function isMissing(known: VolumePod, volume: Volume, root: RootIndex | undefined): boolean {
  const isStarted = known.pod !== undefined && hasStarted(known.pod);
  return isStarted && root !== undefined && hasDirectory(known, volume, root);
}

/** Reports whether a mounted volume has a directory of its pod; a claim, as far as that is known. */
function hasDirectory(known: VolumePod, volume: Volume, root: RootIndex): boolean {
  const kind = kindOfVolume(volume);
  if (!isClaim(kind)) return isDirectoryKind(kind) || MOUNTED.has(kind) || isMigrated(kind);
  if (root.provisionedNames.has(claimOf(known, volume))) return true;
  const [plugin = ''] = (known.histories.find(({name}) => name === volume.name)?.plugin ?? '').split(':');
  return MOUNTED.has(kindOfPlugin(plugin));
}

function unknownPodVolume(fact: PodVolumeFact, root: RootIndex, isOrphaned: boolean): NodeVolume {
  const staged = root.stagedFor(fact);
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
  root: RootIndex | undefined,
): FactFields {
  const provisioned = root?.provisioned(name);
  const kind = kindOfPlugin(plugin);
  const isPersistent =
    provisioned !== undefined || isBlock || kind === 'local' || data?.volumeLifecycleMode === 'Persistent';
  return {
    ...{kind, path, isBlock, mount},
    driver: data?.driverName ?? flexDriverOfPlugin(plugin),
    ...(data !== undefined && {handle: data.volumeHandle}),
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
function volumesWithoutPod(root: RootIndex, volumes: readonly NodeVolume[]): readonly NodeVolume[] {
  const stagingPaths = new Set(volumes.map(({stagingPath}) => stagingPath));
  const claims = new Set(volumes.map(({claim}) => claim));
  const common = {pod: undefined, isBlock: false};
  const {facts} = root;
  const staged = facts.staged
    .filter(({path}) => !stagingPaths.has(path))
    .map((each): NodeVolume => {
      const {path, plugin, mount, data, damage} = each;
      const made = root.provisionedFor(each);
      const name = each.name ?? made?.name;
      return {
        ...{...common, kind: kindOfPlugin(plugin), name: name ?? data?.volumeHandle ?? path, mount},
        ...{
          driver: data?.driverName ?? flexDriverOfPlugin(plugin),
          handle: data?.volumeHandle,
          persistentVolume: name,
          claim: made?.claim,
        },
        ...{state: damage === undefined ? 'staged' : 'error', message: damage, stagingPath: path},
        isBlock: plugin === 'kubernetes.io/csi' && each.name !== undefined,
      };
    });
  const taken = new Set([...volumes, ...staged].map(({persistentVolume}) => persistentVolume));
  const made = facts.provisioned
    .filter(({name}) => !taken.has(name))
    .map(({name, claim, driver, handle, isReleased, isBlock = false}): NodeVolume => ({
      ...{...common, kind: 'csi', name, driver, handle, persistentVolume: name, claim, isBlock},
      state: isReleased === true ? 'released' : 'unused',
    }));
  const directories = facts.claims
    .filter((claim) => !claims.has(claim))
    .map((claim): NodeVolume => ({
      ...{...common, kind: 'claim', name: claim.slice(claim.indexOf('/') + 1), claim, state: 'unused'},
      path: `${claimsDir(facts)}/${claim}`,
    }));
  return [...staged, ...made, ...directories];
}
