import type {Readable} from 'node:stream';

/** Destination of output: a Writable, or its write method. */
export interface OutputTarget {
  write(chunk: Uint8Array | string, written: () => void): boolean;
}

/** Output of the remote end, in order. */
export interface RemoteOutput extends Readable {
  /**
   * Writes all output to `target`. Resolves when it was written, or dropped because the reader of the target has closed
   * it, so that it does not block other streams. Does not end `target`, which may be shared.
   */
  pipeTo(target: OutputTarget): Promise<void>;
}

/** Implements `pipeTo` for any stream. Adds no listeners to the target, unlike `pipe`. */
export async function pipeReadableTo(source: Readable, target: OutputTarget): Promise<void> {
  await new Promise<void>((resolve) => {
    source.once('end', resolve).once('close', resolve);
    source.on('data', (chunk: Buffer) => {
      // Also called if the chunk cannot be written.
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
