import {SystemError, UsageError} from '../../base/errors.js';
import {isPathSegment} from '../../base/fs/files.js';
import type {ApiObject} from '../../api/types/v1-objects.js';
import type {OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {PodRecord, ProvisionedVolume} from '../../kubelet/index.js';
import {readCommandNode} from '../manifests/read-command-node.js';
import {formatPodTitle} from '../pods/pod-title.js';

/** Start of a word that names a claim. */
const CLAIM = /^(?:pvc|persistentvolumeclaims?)\/(?=.)/;

/** Words of a command line: claims as `namespace/name`, and the others. */
export interface ClaimWords {
  readonly claims: readonly string[];
  readonly others: readonly string[];
}

/** Divides words into claims, `pvc/NAME` or `pvc/NAMESPACE/NAME`, and others. Throws UsageError for other names of claims. */
export function divideClaims(words: readonly string[], namespace = 'default'): ClaimWords {
  const claims = words
    .filter((word) => CLAIM.test(word))
    .map((word) => word.replace(CLAIM, ''))
    .map((name) => claimKey(name, namespace));
  return {claims: [...new Set(claims)], others: words.filter((word) => !CLAIM.test(word))};
}

function claimKey(name: string, namespace: string): string {
  const parts = name.includes('/') ? name.split('/') : [namespace, name];
  if (parts.length !== 2 || parts.some((part) => !isPathSegment(part)))
    throw new UsageError(`invalid claim "${name}"`, {hint: 'name it pvc/NAME or pvc/NAMESPACE/NAME'});
  return parts.join('/');
}

/**
 * Deletes the volumes and the directories of claims that no pod uses, also those created for a kubelet that has ended. `objects` are
 * the Secrets that drivers need to delete volumes. Reports claims that cannot be deleted, and continues with the others.
 */
export async function deleteClaims(
  services: RuntimeContext & OutputContext,
  claims: readonly string[],
  objects: readonly ApiObject[],
): Promise<void> {
  const {report, out, settings} = services;
  const {rootDir} = settings;
  const {findKubelet, PodStore, ProvisionedVolumeStore, removeClaims} =
    await import('../../kubelet/index.js');
  const {records} = await new PodStore(rootDir).list();
  const volumes = await new ProvisionedVolumeStore(rootDir).list();
  const kubelet = await findKubelet(rootDir);
  const created: ProvisionedVolume[] = [];
  for (const claim of claims) {
    const found = volumes.filter((volume) => isOfClaim(volume, claim));
    const user = await findUser(records, claim);
    const isOfKubelet = found.some(({manager}) => manager === 'kubelet');
    if (user !== undefined) report.fail(usedError(claim, user));
    else if (kubelet !== undefined && isOfKubelet) report.fail(kubeletError(claim, kubelet.pid));
    else if (found.length > 0) created.push(...found);
    else if ((await removeClaims({rootDir}, [claim])).length > 0)
      out.print(`persistentvolumeclaim "${claim}" deleted`);
    else report.fail(notFoundError(claim));
  }
  if (created.length > 0) await deleteVolumes(services, created, objects);
}

/** Reports whether drivers have created a volume for a claim, which was not retained after it. */
function isOfClaim({claim, ownerUid, state}: ProvisionedVolume, key: string): boolean {
  return claim === key && ownerUid === undefined && state !== 'Released';
}

/** Has drivers delete volumes, and reports those that stay. */
async function deleteVolumes(
  services: RuntimeContext & OutputContext,
  volumes: readonly ProvisionedVolume[],
  objects: readonly ApiObject[],
): Promise<void> {
  const {report, out, signal} = services;
  const [{createApiObjects, openPodRegistry, SILENT_OBSERVER}, {formatReclaimed}] = await Promise.all([
    import('../../kubelet/index.js'),
    import('../sync/reclaim-volumes.js'),
  ]);
  const node = await readCommandNode(services);
  const {provisioner} = openPodRegistry(node, SILENT_OBSERVER, createApiObjects(objects, []));
  const names = new Set(volumes.map(({name}) => name));
  const result = await provisioner?.reclaim(({name}) => !names.has(name), signal);
  const {reclaimed = [], errors = []} = result ?? {};
  for (const volume of reclaimed) out.print(formatReclaimed(volume));
  for (const error of errors) report.fail(error);
  const left = volumes.filter(({name}) => reclaimed.every((each) => each.name !== name));
  if (errors.length === 0) for (const {claim} of left) report.fail(stagedError(claim));
}

async function findUser(records: readonly PodRecord[], claim: string): Promise<PodRecord | undefined> {
  const {claimsOf} = await import('../../kubelet/index.js');
  return records.find(({pod, removedAt}) => removedAt === undefined && claimsOf(pod).includes(claim));
}

/** Reads the objects of manifests. Rejects like readManifests. */
export async function readObjects(
  {context, report, signal}: RuntimeContext,
  files: readonly string[],
): Promise<readonly ApiObject[]> {
  if (files.length === 0) return [];
  const [{readManifests}, {createManifestFetcher}] = await Promise.all([
    import('../../operations/manifests/read-manifests.js'),
    import('../manifests/fetch-manifest-url.js'),
  ]);
  const fetch = createManifestFetcher({clock: context.clock, warn: report.warn});
  const reading = {stdin: context.stdin, signal, fetch, lenient: true, allowNoPods: true};
  return (await readManifests(files, reading)).objects.map(({object}) => object);
}

function usedError(claim: string, user: PodRecord): SystemError {
  const title = formatPodTitle(user);
  return new SystemError(`persistentvolumeclaim "${claim}" is used by pod "${title}"`, {
    hint: `run "kcri delete ${title} --volumes" to delete both`,
  });
}

function kubeletError(claim: string, pid: number): SystemError {
  return new SystemError(
    `persistentvolumeclaim "${claim}" belongs to the kubelet of this root directory (PID ${pid})`,
    {
      hint: 'remove the claim from its manifests; the kubelet deletes only volumes of claims that it has seen there, so stop it first if the claim is not there',
    },
  );
}

function stagedError(claim: string): SystemError {
  return new SystemError(`the volume of persistentvolumeclaim "${claim}" is still in use`, {
    hint: 'run "kcri get volumes -o wide" to see where',
  });
}

function notFoundError(claim: string): SystemError {
  return new SystemError(`persistentvolumeclaim "${claim}" not found`, {
    hint: 'run "kcri get volumes -o wide" to list the volumes of claims; released ones stay until "kcri delete pv/NAME"',
  });
}
