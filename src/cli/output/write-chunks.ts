import {UsageError} from '../../base/errors.js';
import type {Output} from './output.js';

/** Throws UsageError if an archive would be written to a terminal. `flag` writes it to a file. */
export function requireNoTerminal({isTerminal}: Pick<Output, 'isTerminal'>, flag: string): void {
  if (isTerminal)
    throw new UsageError('an archive cannot be written to a terminal', {
      hint: `use ${flag}, or redirect the output`,
    });
}

/** Writes chunks as fast as the reader takes them, until it closes the output. Rejects with the signal's reason. */
export async function writeChunks(
  output: Output,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    // Chunks may be reused by their producer.
    output.write(Buffer.from(chunk));
    await output.ready(signal);
    if (output.closed.aborted) return;
  }
}
