import {byKey} from '../../../../base/compare.js';
import type {ObjectSource} from '../credentials/keyring.js';

/** A Secret that an image was pulled with. */
export interface PulledWithSecret extends ObjectSource {
  readonly credentialHash: string;
}

/** Pods that may use an image without pulling it (ImagePullCredentials). */
export interface PullAccess {
  readonly kubernetesSecrets?: readonly PulledWithSecret[];
  /** Service accounts whose tokens a credential provider used; kcri adds none, but preserves a kubelet's. */
  readonly kubernetesServiceAccounts?: readonly ObjectSource[];
  /** All pods of the node: the image was pulled without credentials or with those of the node. */
  readonly nodePodsAccessible?: boolean;
}

/** Record of a pulled image and its credentials (kubelet.config.k8s.io ImagePulledRecord). */
export interface ImagePulledRecord {
  /** RFC 3339, whole seconds. */
  readonly lastUpdatedTime: string;
  /** Image reference that the runtime returned. */
  readonly imageRef: string;
  /** Access by repository (see parseImageName). */
  readonly credentialMapping: Readonly<Record<string, PullAccess>>;
}

/** Access to an image that was observed, usually by pulling it. */
export interface ObservedPullAccess {
  readonly imageRef: string;
  readonly repository: string;
  /** Undefined if the credentials are unknown: then no pod may use the image without a pull. */
  readonly access: PullAccess | undefined;
  readonly nowMs: number;
}

/** Returns the record with the observed access added; undefined if nothing changes (pulledRecordMergeNewCreds). */
export function mergePullAccess(
  record: ImagePulledRecord | undefined,
  {imageRef, repository, access, nowMs}: ObservedPullAccess,
): ImagePulledRecord | undefined {
  const mapping = record?.credentialMapping ?? {};
  const merged = access === undefined ? undefined : mergeAccess(mapping[repository], access);
  if (record !== undefined && merged === undefined) return undefined;
  return {
    lastUpdatedTime: `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
    imageRef,
    credentialMapping: merged === undefined ? mapping : {...mapping, [repository]: merged},
  };
}

/** Returns the merged access; undefined if nothing changes. */
function mergeAccess(known: PullAccess | undefined, observed: PullAccess): PullAccess | undefined {
  if (known === undefined) return observed;
  if (known.nodePodsAccessible === true) return undefined;
  if (observed.nodePodsAccessible === true) return {nodePodsAccessible: true};
  const secrets = new Map((known.kubernetesSecrets ?? []).map((secret) => [keyOf(secret), secret]));
  const added = (observed.kubernetesSecrets ?? []).filter(
    (secret) => secrets.get(keyOf(secret))?.credentialHash !== secret.credentialHash,
  );
  if (added.length === 0) return undefined;
  for (const secret of added) secrets.set(keyOf(secret), secret);
  return {...known, kubernetesSecrets: [...secrets].sort(byKey).map(([, secret]) => secret)};
}

/** Returns a unique key: namespaces, names and UIDs contain no control characters. */
const keyOf = ({namespace, name, uid}: ObjectSource): string => [namespace, name, uid].join('\0');

/**
 * Returns the first of the pod's Secrets that the image was pulled with before, by content or by UID (a Secret whose
 * content has changed); undefined if there is none.
 */
export function findKnownSecret(
  {kubernetesSecrets = []}: PullAccess,
  secrets: readonly PulledWithSecret[],
): PulledWithSecret | undefined {
  return secrets.find((secret) =>
    kubernetesSecrets.some(
      (known) =>
        known.credentialHash === secret.credentialHash ||
        // Without an API server, which controls who may write a name, the name alone proves nothing.
        (secret.uid !== '' && keyOf(known) === keyOf(secret)),
    ),
  );
}
