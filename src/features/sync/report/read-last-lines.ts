import {readLog} from '../../../operations/logs/read-log.js';

/** Limit of the last lines, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Returns the last lines of a log. Rejects with SystemError and with the signal's reason. */
export async function readLastLines(
  logPath: string,
  tailLines: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  await readLog(
    logPath,
    {streams: new Set(['stdout', 'stderr'] as const), tailLines, limitBytes: MAX_BYTES, signal},
    {
      write: (_stream, bytes) => {
        chunks.push(Buffer.from(bytes));
      },
      ready: async () => undefined,
    },
  );
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
