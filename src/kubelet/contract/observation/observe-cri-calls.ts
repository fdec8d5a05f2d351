import type {Clock} from '../../../base/clock.js';
import type {MessageName} from '../../../cri/gen/schema.js';
import {IMAGE_METHODS, RUNTIME_METHODS} from '../../../cri/gen/services.js';
import type {CallOptions, Init, PullImageRequest} from '../../../cri/index.js';
import type {KubeServices} from '../kube-services.js';

/** One completed call that changes something in the runtime. */
export interface CriCall {
  /** The RPC's wire name, such as `RunPodSandbox`. */
  readonly method: string;
  readonly requestType: MessageName;
  readonly request: Readonly<Record<string, unknown>>;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
  readonly durationMs: number;
}

/** Called when a call starts (`ended` undefined) and when it ends. */
export type CriCallListener = (
  call: Pick<CriCall, 'method' | 'request' | 'requestType'>,
  ended?: CriCall,
) => void;

/** RPCs that change containers, sandboxes or images, or run a command in a container. */
const MUTATING: ReadonlySet<string> = new Set([
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'updateContainerResources',
  'updatePodSandboxResources',
  'execSync',
  'pullImage',
]);

type Call = (request: Record<string, unknown>, options?: CallOptions) => Promise<Record<string, unknown>>;

/** Returns the same services, with every mutating call reported to the listener. */
export function observeCriCalls(
  services: KubeServices,
  clock: Clock,
  listener: CriCallListener,
): KubeServices {
  const observe = <Service extends object>(
    service: Service,
    methods: typeof RUNTIME_METHODS | typeof IMAGE_METHODS,
  ): Service =>
    Object.fromEntries(
      Object.entries(service).map(([name, call]) => [
        name,
        MUTATING.has(name)
          ? observed(call as Call, methods[name as keyof typeof methods], {clock, listener})
          : (call as unknown),
      ]),
    ) as Service;
  return {
    runtime: observe(services.runtime, RUNTIME_METHODS),
    images: observe(services.images, IMAGE_METHODS),
  };
}

function observed(
  call: Call,
  {rpc, request: requestType}: {readonly rpc: string; readonly request: MessageName},
  {clock, listener}: {readonly clock: Clock; readonly listener: CriCallListener},
): Call {
  return async (request, options) => {
    const begun = {method: rpc, requestType, request: withoutPassword(request)};
    const startedAt = clock.monotonic();
    listener(begun);
    try {
      const response = await call(request, options);
      listener(begun, {...begun, response, durationMs: clock.monotonic() - startedAt});
      return response;
    } catch (error) {
      listener(begun, {...begun, error, durationMs: clock.monotonic() - startedAt});
      throw error;
    }
  };
}

/** Masks the password of a pull request; the username remains visible. */
function withoutPassword(request: Record<string, unknown>): Record<string, unknown> {
  const {auth} = request as Init<PullImageRequest>;
  return auth === undefined ? request : {...request, auth: {username: auth.username, password: '***'}};
}
