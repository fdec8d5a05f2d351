import type {Readable, Writable} from 'node:stream';

/** What comes from the remote end, in order. */
export interface RemoteOutput extends Readable {
  /**
   * Writes all that comes to `target` and resolves when that has taken it, or dropped it because nobody reads
   * there any more: whoever isn't read must not hold up the rest. `target` is not ended, and many may share it.
   */
  pour(target: Writable): Promise<void>;
}

/** The same for a stream. Nothing is listened to at the target, unlike with `pipe`. */
export async function pourStream(source: Readable, target: Writable): Promise<void> {
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
