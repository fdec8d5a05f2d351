/** What is said besides the message: names and values, as klog's structured logging has them. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Takes what a daemon has to say. Never throws. */
export interface Logger {
  /** Said at this verbosity (klog's -v) and above; 0 is said always. */
  info(message: string, fields?: LogFields, verbosity?: number): void;
  /** Something failed; `error` is why, or undefined. */
  error(error: unknown, message: string, fields?: LogFields): void;
  /** The same log for what is said at this place of the program: `kubelet/kubelet.ts:12`. The bundler names it in each call. */
  at(place: string): Logger;
}

/** For whoever is not interested. */
export const SILENT_LOGGER: Logger = {
  info: () => undefined,
  error: () => undefined,
  at: () => SILENT_LOGGER,
};
