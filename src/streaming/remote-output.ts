import type {Readable} from 'node:stream';

/** What takes output: a Writable, or as much of one. */
export interface PourTarget {
  write(chunk: Uint8Array | string, written: () => void): boolean;
}

/** What comes from the remote end, in order. */
export interface RemoteOutput extends Readable {
  /**
   * Writes all that comes to `target` and resolves when that has taken it, or dropped it because nobody reads
   * there any more: whoever isn't read must not hold up the rest. `target` is not ended, and many may share it.
   */
  pour(target: PourTarget): Promise<void>;
}

/** The same for a stream. Nothing is listened to at the target, unlike with `pipe`. */
export async function pourStream(source: Readable, target: PourTarget): Promise<void> {
  await new Promise<void>((resolve) => {
    source.once('end', resolve).once('close', resolve);
    source.on('data', (chunk: Buffer) => {
      // Called too for what can't be written.
      const written = (): void => void source.resume();
      if (!target.write(chunk, written)) source.pause();
    });
  });
  await new Promise<void>((resolve) => {
    target.write('', () => {
      resolve();
    });
  });
}
