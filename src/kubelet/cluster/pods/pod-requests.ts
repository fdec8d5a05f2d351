import type {PodUid} from '../../../cri/index.js';
import type {ApiClient} from '../../../kube-api/index.js';

/** Returns the path of a Pod in the API server. */
export function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Deletes a Pod without grace period, if it has the UID. Rejects with ApiError and the errors of connections. */
export async function deleteAtOnce(
  client: ApiClient,
  path: string,
  uid: PodUid | undefined,
  signal: AbortSignal,
): Promise<void> {
  const preconditions = uid === undefined ? {} : {uid};
  const body = {apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions};
  await client.request({method: 'DELETE', path, body}, signal);
}
