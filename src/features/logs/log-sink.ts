import {fstatSync} from 'node:fs';
import type {LogSink} from '../../operations/logs/buffered-log-writer.js';
import type {OutputContext} from '../../cli/command/contexts.js';
import type {Output} from '../../cli/output/output.js';

/** Returns a sink that writes log output to this process's output until the signal is aborted. */
export function createLogSink({out: {stdout, stderr}}: OutputContext, signal: AbortSignal): LogSink {
  return {
    together: isSameFile(stdout, stderr),
    write: (stream, bytes) => {
      (stream === 'stdout' ? stdout : stderr).write(bytes);
    },
    ready: async () => {
      await stdout.ready(signal);
      await stderr.ready(signal);
    },
    stdoutTaken: async () => {
      await stdout.taken(signal);
      signal.throwIfAborted();
    },
  };
}

/** Reports whether both outputs are the same file, as on a terminal and after `2>&1`. */
function isSameFile(...outputs: readonly Output[]): boolean {
  const files = outputs.map(({stream}) => {
    if (!('fd' in stream) || typeof stream.fd !== 'number') return undefined;
    const {dev, ino} = fstatSync(stream.fd);
    return `${dev} ${ino}`;
  });
  return files[0] !== undefined && files.every((file) => file === files[0]);
}
