import {fstatSync} from 'node:fs';
import type {LogSink} from '../../operations/logs/buffered-log-writer.js';
import type {OutputContext} from '../../cli/command/contexts.js';
import type {Output} from '../../cli/output/output.js';

/**
 * Returns a sink that writes log output to this process's output until the signal is aborted. Opens standard error only if
 * there is output for it, or if it may be the same file as standard output.
 */
export function createLogSink({out}: OutputContext, signal: AbortSignal): LogSink {
  const {stdout} = out;
  return {
    together: isSameFile(out),
    write: (stream, bytes) => {
      (stream === 'stdout' ? stdout : out.stderr).write(bytes);
    },
    ready: async () => {
      await stdout.ready(signal);
      await out.openStderr?.ready(signal);
    },
    stdoutTaken: async () => {
      await stdout.taken(signal);
      signal.throwIfAborted();
    },
  };
}

/** Reports whether both outputs are the same file, as on a terminal and after `2>&1`. */
function isSameFile(out: OutputContext['out']): boolean {
  const file = fileOf(out.stdout);
  return file !== undefined && file === fileOf(out.stderr);
}

/** Returns the identity of an output's file; undefined for those that bypass the streams of Node.js. */
function fileOf({stream}: Output): string | undefined {
  if (!('fd' in stream) || typeof stream.fd !== 'number') return undefined;
  const {dev, ino} = fstatSync(stream.fd);
  return `${dev} ${ino}`;
}
