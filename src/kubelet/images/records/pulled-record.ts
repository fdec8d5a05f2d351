import {byKey} from '../../../base/compare.js';
import type {ObjectSource} from '../credentials/keyring.js';

/** A Secret that has let an image's pull in. */
export interface PulledWithSecret extends ObjectSource {
  readonly credentialHash: string;
}

/** Who may use an image without pulling it again. */
export interface PullAccess {
  readonly kubernetesSecrets?: readonly PulledWithSecret[];
  /** Whose token a credential provider has exchanged: kcri notes none, and keeps a kubelet's. */
  readonly kubernetesServiceAccounts?: readonly ObjectSource[];
  /** Every pod of the node: it was pulled without credentials, or with the node's own. */
  readonly nodePodsAccessible?: boolean;
}

/** That an image was pulled, and with what (kubelet.config.k8s.io ImagePulledRecord). */
export interface PulledRecord {
  /** RFC 3339, whole seconds. */
  readonly lastUpdatedTime: string;
  /** The runtime's name for what was pulled. */
  readonly imageRef: string;
  /** By the repository as parseImageName has it. */
  readonly credentialMapping: Readonly<Record<string, PullAccess>>;
}

/** What a pull has shown. */
export interface ShownAccess {
  readonly imageRef: string;
  readonly repository: string;
  /** Undefined when it isn't known how the image came: then nobody may use it without a pull. */
  readonly access: PullAccess | undefined;
  readonly nowMs: number;
}

/** The record with what was shown added to it; undefined when that is in it already (pulledRecordMergeNewCreds). */
export function withAccess(
  record: PulledRecord | undefined,
  {imageRef, repository, access, nowMs}: ShownAccess,
): PulledRecord | undefined {
  const mapping = record?.credentialMapping ?? {};
  const merged = access === undefined ? undefined : mergeAccess(mapping[repository], access);
  if (record !== undefined && merged === undefined) return undefined;
  return {
    lastUpdatedTime: `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
    imageRef,
    credentialMapping: merged === undefined ? mapping : {...mapping, [repository]: merged},
  };
}

/** Undefined when nothing changes. */
function mergeAccess(known: PullAccess | undefined, shown: PullAccess): PullAccess | undefined {
  if (known === undefined) return shown;
  if (known.nodePodsAccessible === true) return undefined;
  if (shown.nodePodsAccessible === true) return {nodePodsAccessible: true};
  const secrets = new Map((known.kubernetesSecrets ?? []).map((secret) => [keyOf(secret), secret]));
  const added = (shown.kubernetesSecrets ?? []).filter(
    (secret) => secrets.get(keyOf(secret))?.credentialHash !== secret.credentialHash,
  );
  if (added.length === 0) return undefined;
  for (const secret of added) secrets.set(keyOf(secret), secret);
  return {...known, kubernetesSecrets: [...secrets].sort(byKey).map(([, secret]) => secret)};
}

/** Namespaces, names and UIDs have no control characters. */
const keyOf = ({namespace, name, uid}: ObjectSource): string => [namespace, name, uid].join('\0');

/**
 * The Secret of the pod that has let this image in before, under the same content or under the same UID (a Secret
 * whose content was replaced). Undefined when there is none.
 */
export function knownSecret(
  {kubernetesSecrets = []}: PullAccess,
  secrets: readonly PulledWithSecret[],
): PulledWithSecret | undefined {
  return secrets.find((secret) =>
    kubernetesSecrets.some(
      (known) =>
        known.credentialHash === secret.credentialHash ||
        // A name alone says nothing where no API server guards who writes under it.
        (secret.uid !== '' && keyOf(known) === keyOf(secret)),
    ),
  );
}
