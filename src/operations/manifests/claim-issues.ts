import {bindClaims, claimKey, type BoundClaims} from '../../api/claims/bind-claims.js';
import type {ManifestIssue} from '../../api/decoding/manifest-issue.js';
import type {ObjectDocument, PodDocument} from '../../api/manifest/parse-manifest.js';
import {forbidden} from '../../api/field-error.js';
import {MIGRATED_KINDS, whyNotMounted} from '../../api/csi-migration/in-tree-volumes.js';
import {FieldPath} from '../../api/field-path.js';
import {volumeSourcesOf} from '../../api/validation/validate-storage.js';
import {findClosestMatch} from '../../base/closest-match.js';

/** Sources of PersistentVolumes that can be mounted. */
const SUPPORTED: readonly string[] = [
  'csi',
  'fc',
  'flexVolume',
  'hostPath',
  'iscsi',
  'local',
  'nfs',
  ...MIGRATED_KINDS,
];

/** Problems of the claims and volumes of manifests. */
export interface ClaimProblems {
  /** Claims that name a volume they cannot have, and volumes that pods use and nothing can mount. */
  readonly issues: readonly ManifestIssue[];
  /** Names that seem to be misspelled. */
  readonly warnings: readonly ManifestIssue[];
}

/** Returns the problems of the claims and volumes of manifests. */
export function claimProblems(
  objects: readonly ObjectDocument[],
  pods: readonly PodDocument[],
): ClaimProblems {
  const bound = bindClaims(objects.map(({object}) => object));
  return {
    issues: objects.flatMap((document) => [...ownIssues(document, bound, pods)]),
    warnings: misspelledNames(objects, pods, bound),
  };
}

function* ownIssues(
  {object, ...location}: ObjectDocument,
  bound: BoundClaims,
  pods: readonly PodDocument[],
): Generator<ManifestIssue> {
  if (object.kind === 'PersistentVolumeClaim') {
    const result = bound.get(claimKey(object));
    if (result?.kind === 'unbound') yield location.createIssue(result.problem);
  }
  if (object.kind !== 'PersistentVolume') return;
  const isUsed = pods.some(({pod}) =>
    (pod.spec.volumes ?? []).some(({persistentVolumeClaim: source}) => {
      const {namespace = 'default'} = pod.metadata;
      const result = source && bound.get(`${namespace}/${source.claimName}`);
      return result?.kind === 'bound' && result.volume === object;
    }),
  );
  if (!isUsed) return;
  for (const name of volumeSourcesOf(object.spec).filter((one) => !SUPPORTED.includes(one))) {
    const reason = `not supported by kcri: ${whyNotMounted(name)}`;
    yield location.createIssue(forbidden(new FieldPath(['spec', name]), reason));
  }
}

/**
 * Returns warnings about names that seem to be misspelled: of a StorageClass in a claim, and of a claim in a pod. Names that are not
 * in the manifests are allowed, and make the claim a directory of the node.
 */
function misspelledNames(
  objects: readonly ObjectDocument[],
  pods: readonly PodDocument[],
  bound: BoundClaims,
): readonly ManifestIssue[] {
  const classes = objects.flatMap(({object: {kind, metadata}}) =>
    kind === 'StorageClass' ? [metadata.name ?? ''] : [],
  );
  const claims = claimNames(objects);
  return [
    ...objects.flatMap((document) => classWarning(document, classes, bound)),
    ...pods.flatMap((document) => claimWarnings(document, claims)),
  ];
}

/** Returns the names of the claims by their namespace. */
function claimNames(objects: readonly ObjectDocument[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const {object} of objects) {
    if (object.kind !== 'PersistentVolumeClaim') continue;
    const {namespace = 'default', name = ''} = object.metadata;
    const own = names.get(namespace) ?? [];
    own.push(name);
    names.set(namespace, own);
  }
  return names;
}

function classWarning(
  {object, ...location}: ObjectDocument,
  classes: readonly string[],
  bound: BoundClaims,
): readonly ManifestIssue[] {
  if (object.kind !== 'PersistentVolumeClaim' || bound.has(claimKey(object))) return [];
  const {storageClassName = ''} = object.spec;
  const closest = classes.includes(storageClassName)
    ? undefined
    : findClosestMatch(storageClassName, classes);
  if (closest === undefined) return [];
  const message = `no StorageClass "${storageClassName}" is in the manifests, so the claim is a directory of the node; did you mean "${closest}"?`;
  return [location.createIssue({path: new FieldPath(['spec', 'storageClassName']), message})];
}

function claimWarnings(
  {pod, ...location}: PodDocument,
  claims: ReturnType<typeof claimNames>,
): readonly ManifestIssue[] {
  const {namespace = 'default'} = pod.metadata;
  const names = claims.get(namespace) ?? [];
  return (pod.spec.volumes ?? []).flatMap(({persistentVolumeClaim: source}, index) => {
    if (source === undefined || names.includes(source.claimName)) return [];
    const closest = findClosestMatch(source.claimName, names);
    if (closest === undefined) return [];
    const message = `no claim "${source.claimName}" is in the manifests, so it is a directory of the node; did you mean "${closest}"?`;
    const path = new FieldPath(['spec', 'volumes', index, 'persistentVolumeClaim', 'claimName']);
    return [location.createIssue({path, message})];
  });
}
