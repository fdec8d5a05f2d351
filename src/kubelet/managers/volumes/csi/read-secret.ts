import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {CsiCluster, CsiSecretRef, SecretContent} from '../../../contract/volumes/csi-cluster.js';

/** Returns the values of the Secret that a field of a volume refers to; none without a reference. Rejects with SystemError. */
export async function readSecret(
  cluster: CsiCluster | undefined,
  field: string,
  ref: CsiSecretRef | undefined,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  return ref === undefined ? {} : textsOf(await readSecretContent(cluster, field, ref, signal));
}

/** Returns the values of a Secret as texts. */
export function textsOf({data}: SecretContent): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString()]));
}

/** Returns the Secret that a field of a volume refers to. Rejects with SystemError. */
export async function readSecretContent(
  cluster: CsiCluster | undefined,
  field: string,
  ref: CsiSecretRef,
  signal: AbortSignal,
): Promise<SecretContent> {
  const failed = `fetching ${field} ${ref.namespace}/${ref.name} failed: kubernetes.io/csi: failed to find the secret ${ref.name} in the namespace ${ref.namespace} with error`;
  if (cluster === undefined)
    throw new SystemError(`${failed}: the kubelet has joined no cluster`, {
      hint: 'start the kubelet with --kubeconfig, or use a volume without secrets',
    });
  try {
    return await cluster.secret(ref, signal);
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    const hint = cause instanceof KcriError ? cause.hint : undefined;
    throw new SystemError(`${failed}: ${messageOf(cause)}`, {cause, hint});
  }
}
