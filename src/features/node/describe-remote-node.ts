import {alignLines} from '../../cli/output/views/aligned-lines.js';
import type {ConnectionContext, SignalContext} from '../../cli/command/contexts.js';
import {humanSize} from '../../format/human-size.js';

/** Describes a remote node by what its runtime says about itself. Rejects with CriError. */
export async function describeRemoteNode({
  connections,
  signal,
}: ConnectionContext & SignalContext): Promise<string> {
  const {endpoint, runtime, images} = await connections.default();
  const [version, {status, runtimeHandlers}, filesystems] = await Promise.all([
    runtime.version({}, {signal}),
    runtime.status({}, {signal}),
    images.imageFsInfo({}, {signal}),
  ]);
  const usages = [...filesystems.imageFilesystems, ...filesystems.containerFilesystems];
  return alignLines([
    `Endpoint:\t${endpoint}`,
    `Runtime:\t${version.runtimeName} ${version.runtimeVersion}`,
    `CRI version:\t${version.runtimeApiVersion}`,
    `Handlers:\t${runtimeHandlers.map(({name}) => (name === '' ? '<default>' : name)).join(', ')}`,
    'Conditions:',
    '  Type\tStatus\tReason\tMessage',
    ...(status?.conditions ?? []).map(
      ({type, status: isTrue, reason, message}) => `  ${type}\t${String(isTrue)}\t${reason}\t${message}`,
    ),
    'File systems of the runtime:',
    ...new Set(
      usages.map(
        ({fsId, usedBytes}) =>
          `  ${fsId?.mountpoint ?? ''}\t${humanSize(Number(usedBytes?.value ?? 0n))} used`,
      ),
    ),
  ]);
}
