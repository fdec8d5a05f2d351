import {changeItems, changeMap, findField, findItems, findText, withField} from '../decoding/edit-node.js';
import type {ManifestNode, MapNode} from '../decoding/manifest-node.js';
import {CONTAINER_LISTS} from '../decoding/manifest-objects.js';
import {removeFields, type Removal} from './server-field.js';

/** Directory where containers expect the token of their service account. */
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Names of the volumes with that token: since Kubernetes 1.21, and before. */
const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{5}$/;
const TOKEN_SECRET_VOLUME = /-token-[a-z0-9]{5}$/;
const NO_TOKEN = 'its token is issued by the API server';

/** Returns a Pod spec without the injected volume of the service account's token, and its mounts. */
export function removeApiAccess(spec: MapNode, {path, onRemoved}: Removal): MapNode {
  const mounted = tokenMountNames(spec);
  const removed = new Set<string>();
  const withoutVolumes = changeItems(spec, 'volumes', (volume, index) => {
    const name = findText(volume, 'name') ?? '';
    if (!isTokenVolume(volume, name, mounted)) return volume;
    removed.add(name);
    onRemoved({
      path: path.child('volumes').index(index),
      offset: volume.offset,
      name: `volume "${name}"`,
      loss: NO_TOKEN,
    });
    return undefined;
  });
  if (removed.size === 0) return spec;
  const isKept = (mount: MapNode): boolean => !removed.has(findText(mount, 'name') ?? '');
  return changeContainers(withoutVolumes, (container) =>
    changeItems(container, 'volumeMounts', (mount) => (isKept(mount) ? mount : undefined)),
  );
}

function isTokenVolume(volume: MapNode, name: string, mounted: ReadonlySet<string>): boolean {
  if (TOKEN_VOLUME.test(name))
    return findItems(volume, 'projected', 'sources').some(
      (source) => findField(source, 'serviceAccountToken') !== undefined,
    );
  return (
    TOKEN_SECRET_VOLUME.test(name) && mounted.has(name) && findText(volume, 'secret', 'secretName') === name
  );
}

/** Returns the names of the volumes that are mounted where containers expect their token. */
function tokenMountNames(spec: MapNode): ReadonlySet<string> {
  const mounts = CONTAINER_LISTS.flatMap((list) => findItems(spec, list)).flatMap((container) =>
    findItems(container, 'volumeMounts'),
  );
  const tokens = mounts.filter((mount) => findText(mount, 'mountPath') === TOKEN_DIRECTORY);
  return new Set(tokens.map((mount) => findText(mount, 'name') ?? ''));
}

function changeContainers(spec: MapNode, change: (container: MapNode) => MapNode): MapNode {
  return CONTAINER_LISTS.reduce((current, list) => changeItems(current, list, change), spec);
}

/** Returns the spec of an exported Pod without what schedulers, controllers and admission plugins added. */
export function removeServerSpec(spec: MapNode, removal: Removal, isOfDaemonSet: boolean): MapNode {
  const withoutDefaults = removeFields(spec, serverDefaults(spec), removal);
  const withoutDebugging = removeFields(
    withoutDefaults,
    ['ephemeralContainers'],
    removal,
    'debug containers can only be added to a running pod, through an API server',
  );
  const tolerant = removeTolerations(withoutDebugging, removal, isOfDaemonSet);
  return isOfDaemonSet ? removeNodeAffinity(tolerant, removal) : tolerant;
}

/** Returns the names of fields that have the value that the server sets by default. */
function serverDefaults(spec: MapNode): readonly string[] {
  const account = findText(spec, 'serviceAccountName');
  const hasClass = (findText(spec, 'priorityClassName') ?? '') !== '';
  return [
    'nodeName',
    ...(findText(spec, 'preemptionPolicy') === 'PreemptLowerPriority' ? ['preemptionPolicy'] : []),
    ...(findText(spec, 'priority') === '0' && !hasClass ? ['priority'] : []),
    ...(findText(spec, 'serviceAccount') === account ? ['serviceAccount'] : []),
    ...(account === 'default' ? ['serviceAccountName'] : []),
  ];
}

/** Taints that the API server makes each Pod tolerate for five minutes. */
const DEFAULT_TOLERATED = new Set(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);
/** Taints that the DaemonSet controller makes its Pods tolerate. */
const DAEMON_TOLERATED = new Set([
  ...DEFAULT_TOLERATED,
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/pid-pressure',
  'node.kubernetes.io/unschedulable',
]);

function removeTolerations(spec: MapNode, {path, onRemoved}: Removal, isOfDaemonSet: boolean): MapNode {
  return changeItems(spec, 'tolerations', (toleration, index) => {
    if (!isAddedToleration(toleration, isOfDaemonSet)) return toleration;
    const name = `toleration of ${findText(toleration, 'key') ?? ''}`;
    onRemoved({path: path.child('tolerations').index(index), offset: toleration.offset, name});
    return undefined;
  });
}

function isAddedToleration(toleration: ManifestNode, isOfDaemonSet: boolean): boolean {
  if (findText(toleration, 'operator') !== 'Exists') return false;
  const key = findText(toleration, 'key') ?? '';
  const seconds = findText(toleration, 'tolerationSeconds');
  return seconds === undefined
    ? isOfDaemonSet && DAEMON_TOLERATED.has(key)
    : seconds === '300' && DEFAULT_TOLERATED.has(key);
}

/** Removes the affinity with which the DaemonSet controller binds a Pod to its node. */
function removeNodeAffinity(spec: MapNode, {path, prefix, onRemoved}: Removal): MapNode {
  const steps = ['affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'];
  const required = findField(spec, ...steps);
  const terms = findItems(required, 'nodeSelectorTerms');
  const isBinding = terms.every((term) =>
    findItems(term, 'matchFields').some((field) => findText(field, 'key') === 'metadata.name'),
  );
  if (required === undefined || terms.length === 0 || !isBinding) return spec;
  onRemoved({path: path.child(...steps), offset: required.offset, name: `${prefix}${steps.join('.')}`});
  return withoutEmptyParents(spec, steps);
}

/** Removes a field and each map on the way to it that becomes empty. */
function withoutEmptyParents(node: MapNode, steps: readonly string[]): MapNode {
  const [parents, last = ''] = [steps.slice(0, -1), steps.at(-1)];
  const left = changeMap(node, parents, (parent) => withField(parent, last, undefined));
  const parent = findField(left, ...parents);
  const isEmpty = parents.length > 0 && parent?.kind === 'map' && parent.entries.size === 0;
  return isEmpty ? withoutEmptyParents(left, parents) : left;
}
