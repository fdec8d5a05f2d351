/** Resolves like the promise. Rejects after a number of seconds with an error that says what was waited for. */
export function within<T>(seconds: number, what: string, promise: Promise<T>): Promise<T>;

/** A program that was started, its output and its end. */
export class Program {
  constructor(
    name: string,
    command: readonly string[],
    options?: {readonly env?: Readonly<Record<string, string | undefined>>; readonly input?: string},
  );
  get pid(): number | undefined;
  firstLine(seconds: number, what: string): Promise<string>;
  during<T>(promise: Promise<T>): Promise<T>;
  succeed(seconds: number): Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}
