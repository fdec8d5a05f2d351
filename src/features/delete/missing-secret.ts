import type {ApiObject} from '../../api/types/v1-objects.js';
import {SystemError} from '../../base/errors.js';
import type {ReportContext, SettingsContext} from '../../cli/command/contexts.js';
import {
  claimsOf,
  createApiObjects,
  ProvisionedVolumeStore,
  type ApiObjects,
  type PodRecord,
  type ProvisionedVolume,
} from '../../kubelet/index.js';
import {formatPodTitle} from '../pods/pod-title.js';

/**
 * Returns the pods that can be deleted with the volumes of their claims, and reports the others, of which nothing is deleted then.
 * Rejects with SystemError if the state of the volumes is damaged.
 */
export async function withoutMissingSecrets(
  {report, settings}: ReportContext & SettingsContext,
  deleted: readonly PodRecord[],
  {records, objects}: {readonly records: readonly PodRecord[]; readonly objects: readonly ApiObject[]},
): Promise<readonly PodRecord[]> {
  const volumes = await new ProvisionedVolumeStore(settings.rootDir).list();
  const used = new Set(records.filter((each) => !deleted.includes(each)).flatMap(({pod}) => claimsOf(pod)));
  const inputs = {volumes, objects: createApiObjects(objects, []), used};
  return deleted.filter((record) => {
    const error = missingSecretError(record, inputs);
    if (error !== undefined) report.fail(error);
    return error === undefined;
  });
}

/** Volumes that `delete --volumes` deletes, and what their drivers need for that. */
interface VolumesToDelete {
  readonly volumes: readonly ProvisionedVolume[];
  readonly objects: Pick<ApiObjects, 'secret'>;
  /** Claims of the pods that remain, `namespace/name`: their volumes are not deleted. */
  readonly used: ReadonlySet<string>;
}

/**
 * Returns why the volumes of a pod's claims cannot be deleted with it: the Secret that the class of one names is in none of the
 * manifests. Secrets are never stored, only their names. Undefined if nothing is missing. Pure.
 */
function missingSecretError(
  record: PodRecord,
  {volumes, objects, used}: VolumesToDelete,
): SystemError | undefined {
  const claims = new Set(claimsOf(record.pod).filter((claim) => !used.has(claim)));
  for (const volume of volumes) {
    const {driver, secret} = volume.request;
    if (secret === undefined || !claims.has(volume.claim) || !isDeleted(volume)) continue;
    if (objects.secret(secret.namespace, secret.name) !== undefined) continue;
    const title = formatPodTitle(record);
    const needed = `the CSI driver "${driver}" needs the Secret "${secret.namespace}/${secret.name}"`;
    return new SystemError(
      `pod "${title}" was not deleted: to delete the volume of its claim "${volume.claim}", ${needed}, which kcri does not store`,
      {
        hint: `run "kcri delete ${title} --volumes -f FILE" with a manifest of the Secret, or keep the volume without --volumes`,
      },
    );
  }
  return undefined;
}

/** Reports whether commands delete the volume of a claim, which a kubelet or the policy Retain keeps. */
function isDeleted({state, manager, ownerUid, reclaimPolicy}: ProvisionedVolume): boolean {
  const isKept = state === 'Released' || (state === 'Bound' && reclaimPolicy === 'Retain');
  return !isKept && ownerUid === undefined && manager === 'sync';
}
