import type {Pod} from '../../api/v1.js';
import {goQuote} from '../../format/go-quote.js';
import type {NodeFacts} from '../container/node.js';
import type {IdMapping, PodFilesystem} from '../container/pod-filesystem.js';
import {PodSandboxConfigError} from './config-errors.js';

/** True for a pod whose users are not the node's own. */
export function hasUserNamespace({spec}: Pod): boolean {
  return spec.hostUsers === false;
}

/**
 * The pod's own ids, or undefined for one that has the node's (GetOrCreateUserNamespaceMappings). Rejects with
 * PodSandboxConfigError when the runtime handler can't map ids, and with what the file system rejects with.
 */
export async function userNamespace(
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
  const who = handler === '' ? 'runtime' : `RuntimeClass handler ${goQuote(handler)}`;
  const why = features === undefined ? `: the handler ${goQuote(handler)} is not known` : '';
  throw new PodSandboxConfigError(
    `can't set \`spec.hostUsers: false\`, ${who} does not support user namespaces${why}`,
    {
      hint: 'leave out spec.hostUsers; user namespaces take containerd 2.0 with runc 1.2, or later, and Linux 6.3',
    },
  );
}
