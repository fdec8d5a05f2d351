import type {AnyMask} from './message-schema.js';

/** Fields without which a response is useless, by RPC. cri-client rejects these responses too. */
const REQUIRED: Readonly<Record<string, string>> = {
  RunPodSandbox: 'podSandboxId',
  PodSandboxStatus: 'status',
  CreateContainer: 'containerId',
  ContainerStatus: 'status',
  PullImage: 'imageRef',
  Exec: 'url',
  Attach: 'url',
  PortForward: 'url',
};

/** Returns the required field that a response lacks; undefined if it has it, or if the mask excludes it. */
export function missingField(
  rpc: string,
  response: Readonly<Record<string, unknown>>,
  fields?: AnyMask,
): string | undefined {
  const name = Object.hasOwn(REQUIRED, rpc) ? REQUIRED[rpc] : undefined;
  if (name === undefined || (fields !== undefined && fields[name] === undefined)) return undefined;
  const value = response[name];
  return value === undefined || value === '' ? name : undefined;
}
