import type {ImageRuntime} from '../../operations/images/stored/image-runtime.js';
import type {ConnectionContext, EnvironmentContext, SignalContext} from '../../cli/command/contexts.js';

/** Returns the configured runtime for operations on images that need more than the CRI. */
export async function imageRuntime({
  connections,
  context,
  signal,
}: ConnectionContext & EnvironmentContext & SignalContext): Promise<ImageRuntime> {
  const cri = await connections.default();
  return {
    cri,
    isRemote: connections.remote !== undefined,
    containerd: async () => await connections.containerd(),
    clock: context.clock,
    env: context.env,
    signal,
  };
}
