// The measured tools: kcri, crictl, and a minimal client.
import {access, constants} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {KCRI} from './runtime.mjs';

const RAW = fileURLToPath(new URL('raw-client.mjs', import.meta.url));

/** Returns the tools on a runtime, with their command lines for exec and port-forward. */
export async function toolsFor({container, pod}) {
  const crictl = await onPath('crictl');
  const asCrictl = (name, command) => ({
    name,
    execOut: (...words) => [...command, 'exec', container, ...words],
    execIn: (...words) => [...command, 'exec', '-i', container, ...words],
    forward: (port) => [...command, 'port-forward', pod, `0:${port}`],
  });
  return [
    asCrictl('kcri', [process.execPath, KCRI]),
    ...(crictl === undefined ? [] : [asCrictl('crictl', [crictl])]),
    {
      name: 'floor',
      execOut: (...words) => [process.execPath, RAW, 'stdout', container, ...words],
      execIn: (...words) => [process.execPath, RAW, 'stdin', container, ...words],
      // Connects to the pod's address without a forwarder.
      forward: undefined,
    },
  ];
}

async function onPath(program) {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(dir, program);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return undefined;
}
