import type {Pod} from '../../../../api/types/v1-pod.js';
import {goQuote} from '../../../../format/go-quote.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {IdMapping, PodFilesystem} from '../../../contract/pod-filesystem.js';
import {PodSandboxConfigError} from './config-errors.js';

/** Reports whether the pod has its own user namespace. */
export function hasUserNamespace({spec}: Pod): boolean {
  return spec.hostUsers === false;
}

/**
 * Returns the ID mapping of the pod's user namespace, allocating it if necessary; undefined with host users
 * (GetOrCreateUserNamespaceMappings). Rejects with PodSandboxConfigError if the runtime handler does not support user
 * namespaces, and with SystemError.
 */
export async function ensureUserNamespaceMappings(
  pod: Pod,
  handler: string,
  {node, files}: {readonly node: NodeFacts; readonly files: Pick<PodFilesystem, 'userNamespace'>},
): Promise<IdMapping | undefined> {
  if (!hasUserNamespace(pod)) return undefined;
  requireUserNamespaces(node, handler);
  return await files.userNamespace(pod);
}

function requireUserNamespaces({runtime}: Pick<NodeFacts, 'runtime'>, handler: string): void {
  const features = runtime.handlers.get(handler);
  if (features?.userNamespaces === true) return;
  const subject = handler === '' ? 'runtime' : `RuntimeClass handler ${goQuote(handler)}`;
  const cause = features === undefined ? `: the handler ${goQuote(handler)} is not known` : '';
  throw new PodSandboxConfigError(
    `can't set \`spec.hostUsers: false\`, ${subject} does not support user namespaces${cause}`,
    {
      hint: 'remove spec.hostUsers; user namespaces require containerd 2.0 with runc 1.2 or later, and Linux 6.3',
    },
  );
}
