import type {ReadableStream} from 'node:stream/web';

/** What Bun has beside Node.js' modules, as far as it is needed here. */
interface Bun {
  file(fd: number): {stream(): ReadableStream; writer(): BunWriter};
}

/** Bun's writer to what may not take all at once. It answers with a promise when something is left to be taken. */
export interface BunWriter {
  write(chunk: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  unref(): void;
}

/** Undefined on Node.js. */
export function bunIfThere(): Bun | undefined {
  return (globalThis as {readonly Bun?: Bun}).Bun;
}
