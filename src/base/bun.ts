import type {ReadableStream} from 'node:stream/web';

/** The part of Bun's global API that kcri uses. */
interface Bun {
  file(fd: number): {stream(): ReadableStream; writer(): BunWriter};
}

/** Bun's buffered writer. Its methods return a promise while data is still pending. */
export interface BunWriter {
  write(chunk: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  unref(): void;
}

/** Returns Bun's global API, or undefined on Node.js. */
export function getBun(): Bun | undefined {
  return (globalThis as {readonly Bun?: Bun}).Bun;
}
