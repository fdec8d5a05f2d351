import {bindClaims, claimKey, type BoundClaims} from '../../api/claims/bind-claims.js';
import type {ManifestIssue} from '../../api/decoding/manifest-issue.js';
import type {ObjectDocument, PodDocument} from '../../api/manifest/parse-manifest.js';
import {forbidden} from '../../api/field-error.js';
import {MIGRATED_KINDS, whyNotMounted} from '../../api/csi-migration/in-tree-volumes.js';
import {FieldPath} from '../../api/field-path.js';
import {volumeSourcesOf} from '../../api/validation/validate-storage.js';

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

/** Returns the issues of claims that name a volume they cannot have, and of volumes that pods use and nothing can mount. */
export function claimIssues(
  objects: readonly ObjectDocument[],
  pods: readonly PodDocument[],
): readonly ManifestIssue[] {
  const bound = bindClaims(objects.map(({object}) => object));
  return objects.flatMap((document) => [...ownIssues(document, bound, pods)]);
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
